"""A plugin that this host did not start, in the test's own process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from enfilade_sdk import codec
from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1.strategy_pb2_grpc import StrategyPluginServicer, add_StrategyPluginServicer_to_server


class Elsewhere(StrategyPluginServicer):
    """A plugin that somebody else started: it says what it offers when it answers at all, and runs go on without end.

    Attributes:
        answers: Whether it answers.
        offers: The names of its strategies.
    """

    def __init__(self, path: Path) -> None:
        self.answers = asyncio.Event()
        self.answers.set()
        self.offers = ["Far"]
        self.asked = 0
        self.address = f"unix:{path}"
        self.running = asyncio.Event()

    async def Describe(self, _request: Any, _context: Any) -> pb.DescribeResponse:  # noqa: N802 - the wire's name
        self.asked += 1
        await self.answers.wait()
        return pb.DescribeResponse(
            protocol=codec.PROTOCOL, strategies=[pb.StrategyDescription(name=name) for name in self.offers]
        )

    async def Run(self, _frames: Any, context: Any) -> None:  # type: ignore[override]  # noqa: N802 - as on the wire
        await context.read()
        self.running.set()
        await context.read()  # its cancel

    @asynccontextmanager
    async def there(self) -> AsyncIterator[None]:
        server = grpc.aio.server()
        add_StrategyPluginServicer_to_server(self, server)
        server.add_insecure_port(self.address)
        await server.start()
        try:
            yield
        finally:
            await server.stop(None)

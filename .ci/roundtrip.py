"""One round trip over the wire with whatever protobuf and grpcio this environment has: Describe, then a run.

A server made of nothing but the generated code answers over a real socket; both directions of a Run stream are crossed.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from importlib.metadata import version
from pathlib import Path

import grpc

from enfilade_wire.v1 import strategy_pb2 as wire
from enfilade_wire.v1.strategy_pb2_grpc import (
    StrategyPluginServicer,
    StrategyPluginStub,
    add_StrategyPluginServicer_to_server,
)

TEXT = "größer \N{SNOWMAN} 😀"
SECONDS = 20


class Echo(StrategyPluginServicer):
    """Describes one strategy, and answers a run's start with the parameters it was given."""

    async def Describe(self, request: wire.DescribeRequest, context: object) -> wire.DescribeResponse:  # noqa: ARG002, N802
        """Say which strategy there is."""
        return wire.DescribeResponse(protocol=1, strategies=[wire.StrategyDescription(name="echo")])

    async def Run(  # noqa: N802 - the name is the wire's
        self,
        request_iterator: AsyncIterator[wire.HostFrame],
        context: object,  # noqa: ARG002
    ) -> AsyncIterator[wire.PluginFrame]:
        """Send the parameters back as a text message, and finish."""
        async for frame in request_iterator:
            text = wire.Message(type=wire.MESSAGE_TYPE_TEXT, text=frame.items[0].start.params_json)
            yield wire.PluginFrame(items=[wire.PluginItem(message=text), wire.PluginItem(finished=wire.Finished())])
            return


async def cross(address: str) -> None:
    """Ask the server at `address` for its description and for one run; compare what comes back."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = StrategyPluginStub(channel)
        described = await stub.Describe(wire.DescribeRequest(), timeout=SECONDS)
        assert [strategy.name for strategy in described.strategies] == ["echo"], described
        call = stub.Run(timeout=SECONDS)
        start = wire.Start(run_id="1", strategy="echo", params_json=TEXT)
        await call.write(wire.HostFrame(items=[wire.HostItem(start=start)]))
        items = [item async for frame in call for item in frame.items]
        assert [item.WhichOneof("item") for item in items] == ["message", "finished"], items
        assert items[0].message.text == TEXT, items


async def main() -> None:
    """Serve, cross, and say on which versions it went well."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{Path(folder, 's')}"
        server = grpc.aio.server()
        add_StrategyPluginServicer_to_server(Echo(), server)
        server.add_insecure_port(address)
        await server.start()
        try:
            await asyncio.wait_for(cross(address), SECONDS)
        finally:
            await server.stop(None)
    print("round trip on " + ", ".join(f"{name} {version(name)}" for name in ("protobuf", "grpcio", "pydantic")))


if __name__ == "__main__":
    asyncio.run(main())

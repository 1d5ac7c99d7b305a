"""One round trip of the SDK's values over the wire, with whatever protobuf and grpcio this environment has.

A server made of the generated code and the SDK's codec answers over a real socket: its description, then a run that
gives back what it was started with. What arrives must equal what left.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc

from enfilade_sdk.codec import (
    description_from_wire,
    description_to_wire,
    message_from_wire,
    message_to_wire,
    start_from_wire,
    start_to_wire,
)
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import blob_message, json_message, log_message, text_message, variable_message
from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_wire.v1 import strategy_pb2 as wire
from enfilade_wire.v1.strategy_pb2_grpc import (
    StrategyPluginServicer,
    StrategyPluginStub,
    add_StrategyPluginServicer_to_server,
)

SECONDS = 20
ITEM_LIMIT = 4 * 1024 * 1024
DESCRIPTION = StrategyDescription(
    name="echo",
    label={"en_US": "Echo"},
    parameters=[AgentStrategyParameter(name="query", type="string", required=True)],
)
INVOCATION = Invocation(
    strategy="echo", params={"query": "größer \N{SNOWMAN} 😀", "none": None}, run_id="1", deadline=5.0
)
MESSAGES = [
    text_message("größer \N{SNOWMAN} 😀", meta={"reasoning": True}),
    json_message({"list": [1, 2.5, None, "x"]}),
    blob_message(bytes(range(256)), mime_type="application/octet-stream", filename="all bytes"),
    variable_message("name", {"deep": [True]}),
    log_message("ROUND 1", data={"seconds": 0.25}),
]


class Echo(StrategyPluginServicer):
    """Describes one strategy, and answers a run's start with its own parameters and one message of several kinds."""

    async def Describe(self, request: wire.DescribeRequest, context: object) -> wire.DescribeResponse:  # noqa: ARG002, N802 - the wire's
        """Say which strategy there is."""
        return wire.DescribeResponse(protocol=1, strategies=[description_to_wire(DESCRIPTION)])

    async def Run(  # noqa: N802 - the wire's
        self,
        request_iterator: AsyncIterator[wire.HostFrame],
        context: object,  # noqa: ARG002 - the wire's
    ) -> AsyncIterator[wire.PluginFrame]:
        """Send the messages and the parameters back, coalesced in one frame, and finish."""
        async for frame in request_iterator:
            invocation = start_from_wire(frame.items[0].start)
            answer = [*MESSAGES, json_message(invocation.params)]
            items = [wire.PluginItem(message=message_to_wire(message)) for message in answer]
            yield wire.PluginFrame(items=[*items, wire.PluginItem(finished=wire.Finished())])
            return


def same(what: str, sent: object, arrived: object) -> None:
    """Compare what left with what arrived.

    Raises:
        SystemExit: they differ.
    """
    if sent != arrived:
        raise SystemExit(f"{what} changed on the wire:\n  sent    {sent!r}\n  arrived {arrived!r}")


async def cross(address: str) -> None:
    """Ask the server at `address` for its description and for one run; compare what comes back."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = StrategyPluginStub(channel)
        described = await stub.Describe(wire.DescribeRequest(), timeout=SECONDS)
        same("the description", [DESCRIPTION], [description_from_wire(value) for value in described.strategies])
        call = stub.Run(timeout=SECONDS)
        await call.write(wire.HostFrame(items=[wire.HostItem(start=start_to_wire(INVOCATION, ITEM_LIMIT))]))
        items = [item async for frame in call for item in frame.items]
        same("the end of the run", "finished", items[-1].WhichOneof("item"))
        arrived: list[dict[str, Any]] = [message_from_wire(item.message).to_json() for item in items[:-1]]
        same("a message", [message.to_json() for message in MESSAGES], arrived[:-1])
        same("the start", INVOCATION.params, arrived[-1]["message"]["json_object"])


async def main() -> None:
    """Serve, cross, and say on which versions it went well."""
    same("the start", INVOCATION, start_from_wire(start_to_wire(INVOCATION, ITEM_LIMIT)))
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

"""One round trip through a real plugin process, with whatever protobuf and grpcio this environment has.

A strategy is served by `python -m enfilade_sdk.serving` as a host would start it. It is asked for its description, then
started; it gives back its parameters and a message of several kinds. What arrives must equal what left.
"""

import asyncio
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import grpc

from enfilade_sdk.codec import description_from_wire, message_from_wire, start_from_wire, start_to_wire
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import message_of
from enfilade_sdk.serving.handshake import COOKIE_KEY, COOKIE_VALUE
from enfilade_wire.v1 import strategy_pb2 as wire
from enfilade_wire.v1.strategy_pb2_grpc import StrategyPluginStub

SECONDS = 20
ITEM_LIMIT = 4 * 1024 * 1024
WORD = "größer \N{SNOWMAN} 😀"
INVOCATION = Invocation(
    strategy="echo", params={"query": WORD, "deep": {"list": [1, 2.5, None]}}, run_id="1", deadline=5.0
)
MESSAGES = [
    {"type": "text", "message": {"text": WORD}, "meta": {"reasoning": True}},
    {"type": "link", "message": {"text": "https://localhost/"}},
    {"type": "blob", "message": {"blob": bytes(range(256))}, "meta": {"mime_type": "application/octet-stream"}},
    {"type": "variable", "message": {"variable_name": "name", "variable_value": {"deep": [True]}}},
    {"type": "json", "message": {"json_object": INVOCATION.params}},
]
STRATEGY = f"""
class Echo:
    description = {WORD!r}

    def get_parameters(self):
        return [
            {{"name": "query", "type": "string", "required": True, "label": {WORD!r}}},
            {{"name": "deep", "type": "object"}},
        ]

    def invoke(self, *, params):
        print("not for the host's protocol")
        yield from {MESSAGES[:-1]!r}
        yield {{"type": "json", "message": {{"json_object": params}}}}
"""


class ChangedError(Exception):
    """What arrived differs from what left."""


def same(what: str, sent: object, arrived: object) -> None:
    """Compare what left with what arrived.

    Raises:
        ChangedError: They differ.
    """
    if sent != arrived:
        raise ChangedError(f"{what} changed on the wire:\n  sent    {sent!r}\n  arrived {arrived!r}")


@asynccontextmanager
async def plugin(folder: Path) -> AsyncIterator[Process]:
    """A plugin process that serves the strategy; its stdin, which stays open, is its life line."""
    (folder / "echo.py").write_text(STRATEGY, encoding="utf-8")
    settings = {**os.environ, COOKIE_KEY: COOKIE_VALUE, "PLUGIN_UNIX_SOCKET_DIR": str(folder), "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", "-m", "enfilade_sdk.serving", "--path", str(folder), "echo=echo:Echo"]
    process = await asyncio.create_subprocess_exec(*command, env=settings, cwd=folder, stdin=PIPE, stdout=PIPE)
    try:
        yield process
        process.terminate()
        await asyncio.wait_for(process.wait(), SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def address_of(process: Process) -> str:
    """Read the one line in which a plugin says where it listens."""
    assert process.stdout is not None
    line = await process.stdout.readline()
    fields = line.decode().strip().split("|")
    same("the handshake", ["1", "1", "unix", "grpc"], fields[:3] + fields[4:5])
    return f"unix:{fields[3]}"


async def cross(address: str) -> None:
    """Ask the plugin for its description and for one run; compare what comes back."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = StrategyPluginStub(channel)
        described = await stub.Describe(wire.DescribeRequest(), timeout=SECONDS)
        (echo,) = [description_from_wire(value) for value in described.strategies]
        found = (echo.name, echo.description, [parameter.name for parameter in echo.parameters], echo.faults)
        same("the description", ("echo", WORD, ["query", "deep"], []), found)
        call = stub.Run(timeout=SECONDS)
        await call.write(wire.HostFrame(items=[wire.HostItem(start=start_to_wire(INVOCATION, ITEM_LIMIT))]))
        items = [item async for frame in call for item in frame.items]
        same("the end of the run", "finished", items[-1].WhichOneof("item"))
        arrived = [message_from_wire(item.message) for item in items[:-1]]
        same("the messages", [message_of(message) for message in MESSAGES], arrived)


async def main() -> None:
    """Start the plugin, cross, and say on which versions it went well."""
    same("the start", INVOCATION, start_from_wire(start_to_wire(INVOCATION, ITEM_LIMIT)))
    with tempfile.TemporaryDirectory() as folder:
        async with plugin(Path(folder)) as process:
            await asyncio.wait_for(cross(await asyncio.wait_for(address_of(process), SECONDS)), SECONDS)
        same("the plugin's exit status", 0, process.returncode)
    print("round trip on " + ", ".join(f"{name} {version(name)}" for name in ("protobuf", "grpcio", "pydantic")))


if __name__ == "__main__":
    asyncio.run(main())

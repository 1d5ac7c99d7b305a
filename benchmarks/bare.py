"""Bare gRPC in a process of its own: what the way would cost if nothing but gRPC were on it."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from benchmarks.strategies import TEXT
from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1 import strategy_pb2_grpc as rpc


class BareServicer(rpc.StrategyPluginServicer):
    """Answers each frame with one; a start whose run id is a number with that many, one item each."""

    async def Describe(self, _request: Any, _context: Any) -> pb.DescribeResponse:  # noqa: N802 - the wire's name
        """Not asked for."""
        return pb.DescribeResponse()

    async def Run(self, _frames: Any, context: Any) -> None:  # type: ignore[override]  # noqa: N802 - as it is on the wire
        """One stream."""
        message = pb.PluginFrame(items=[pb.PluginItem(message=pb.Message(type=pb.MESSAGE_TYPE_TEXT, text=TEXT))])
        while isinstance(frame := await context.read(), pb.HostFrame):
            for _ in range(int(frame.items[0].start.run_id or 1)):
                await context.write(message)


@asynccontextmanager
async def bare_stub() -> AsyncIterator[Any]:
    """A stub of the bare server in a child process."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/bare.sock"
        process = _start(path)
        try:
            if process.stdout is not None:
                process.stdout.readline()
            async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
                yield rpc.StrategyPluginStub(channel)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _start(path: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", "benchmarks.bare", path], stdout=subprocess.PIPE)


async def _serve(path: str) -> None:
    server = grpc.aio.server()
    rpc.add_StrategyPluginServicer_to_server(BareServicer(), server)
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    Path(sys.argv[1]).unlink(missing_ok=True)
    asyncio.run(_serve(sys.argv[1]))

"""A plugin as go-plugin's stock server makes them, in Python with grpc and the wire alone.

It knows nothing of our SDK: it reads no launch line, ignores stdin, asks for no token, takes over its own stdout and
stderr once it serves and streams them (GRPCStdio), logs hclog's JSON before that, ends by GRPCController.Shutdown.
"""

import asyncio
import json
import os
import sys
from typing import Any

import grpc

from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1 import strategy_pb2_grpc as rpc

COOKIE = ("ENFILADE_PLUGIN", "5a4e8f1c-strategy-plugin")
STDOUT, STDERR = 1, 2
Context = Any


def log(level: str, message: str) -> None:
    line = {"@level": level, "@message": message, "@module": "stock", "@timestamp": "2026-11-30T12:00:00.000000Z"}
    sys.stderr.write(json.dumps(line) + "\n")
    sys.stderr.flush()


class Stock:
    def __init__(self) -> None:
        self.printed: asyncio.Queue[bytes] = asyncio.Queue()
        self.stopped = asyncio.Event()

    async def Describe(self, _request: pb.DescribeRequest, _context: Context) -> pb.DescribeResponse:  # noqa: N802 - the wire's name
        about = json.dumps({"description": "greets", "label": "Greeter"})
        greeter = pb.StrategyDescription(name="greeter", about_json=about, parameters_json="[]")
        return pb.DescribeResponse(protocol=1, plugin="stock", version="1.0", strategies=[greeter])

    async def Run(self, _requests: Any, context: Context) -> None:  # noqa: N802 - the wire's name
        frame = await context.read()
        if not isinstance(frame, pb.HostFrame):
            return
        query = json.loads(frame.items[0].start.params_json)["query"]
        self.print(STDOUT, f"asked: {query}\n")
        self.print(STDERR, "[WARN] a warning\n")
        call = pb.PluginItem(tool_call=pb.ToolCall(call_id=1, name="tool", arguments_json="{}"))
        await context.write(pb.PluginFrame(items=[call]))
        answer = (await context.read()).items[0].tool_done.text
        said = pb.Message(type=pb.MESSAGE_TYPE_TEXT, text=f"{query}: {answer}")
        await context.write(pb.PluginFrame(items=[pb.PluginItem(message=said), pb.PluginItem(finished=pb.Finished())]))

    def print(self, channel: int, text: str) -> None:
        data = text.encode()
        self.printed.put_nowait(bytes([0x08, channel, 0x12, len(data)]) + data)

    async def stream_stdio(self, _request: bytes, _context: Context) -> Any:
        while True:
            yield await self.printed.get()

    async def shutdown(self, _request: bytes, _context: Context) -> bytes:
        self.stopped.set()
        return b""


async def main() -> int:
    if os.environ.get(COOKIE[0]) != COOKIE[1]:
        sys.stderr.write("This binary is a plugin. These are not meant to be executed directly.\n")
        return 1
    log("warn", "plugin configured with a nil SecureConfig")
    stock = Stock()
    server = grpc.aio.server()
    rpc.add_StrategyPluginServicer_to_server(stock, server)  # type: ignore[arg-type]  # it writes to the context
    stdio: dict[str, Any] = {"StreamStdio": grpc.unary_stream_rpc_method_handler(stock.stream_stdio)}
    controller: dict[str, Any] = {"Shutdown": grpc.unary_unary_rpc_method_handler(stock.shutdown)}
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler("plugin.GRPCStdio", stdio),
            grpc.method_handlers_generic_handler("plugin.GRPCController", controller),
        )
    )
    path = f"{os.environ['PLUGIN_UNIX_SOCKET_DIR']}/plugin{os.getpid()}"
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    log("debug", f"plugin address: network=unix address={path}")
    print(f"1|1|unix|{path}|grpc||true", flush=True)
    await stock.stopped.wait()
    await server.stop(0.1)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

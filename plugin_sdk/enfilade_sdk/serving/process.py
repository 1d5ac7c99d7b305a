"""A plugin process from its first line to its last.

Nothing heavy is imported before the streams are guarded and the process is bound to its host.
"""

import logging
import os
import signal
import sys
from typing import NoReturn, TextIO

from enfilade_sdk.serving.handshake import (
    HandshakeError,
    Launch,
    choose_protocol,
    guard_streams,
    handshake_line,
    read_launch,
)
from enfilade_sdk.serving.lifeline import die_with_parent, watch


def main(arguments: list[str]) -> NoReturn:
    """Serves the strategies named in the arguments until the host is done with this process."""
    out, lifeline = guard_streams()
    try:
        launch = read_launch(lifeline)
        die_with_parent(launch.parent)
        watch(lifeline)
        _serve(launch, arguments, out)
    except HandshakeError as error:
        sys.stderr.write(f"{error}\n")
        _leave(1)
    _leave(0)


def _serve(launch: Launch, arguments: list[str], out: TextIO) -> None:
    import asyncio

    from enfilade_sdk.codec import PROTOCOL
    from enfilade_sdk.serving.plugin import Plugin, extend_path, offer_of
    from enfilade_sdk.serving.server import StrategyServicer, make_server, serve_until_shutdown, socket_path

    protocol = choose_protocol(launch, PROTOCOL)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="[%(levelname)s] %(name)s: %(message)s")
    paths = [arguments[i + 1] for i, word in enumerate(arguments[:-1]) if word == "--path"]
    specs = [word for i, word in enumerate(arguments) if word != "--path" and arguments[i - 1 : i] != ["--path"]]
    extend_path(paths)
    plugin = Plugin([offer_of(spec) for spec in specs])

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        servicer = StrategyServicer(plugin, token=launch.token)
        server = make_server(servicer, stop.set, max_message_bytes=launch.max_message_bytes)
        path = socket_path(launch.socket_dir)
        server.add_insecure_port(f"unix:{path}")
        await server.start()
        out.write(handshake_line(protocol, path) + "\n")
        out.close()
        await serve_until_shutdown(server, stop)

    asyncio.run(run())


def _leave(code: int) -> NoReturn:
    """Ends without waiting for a strategy's threads, which may never end."""
    sys.stderr.flush()
    os._exit(code)

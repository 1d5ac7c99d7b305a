"""A plugin process from its first line to its last.

Nothing heavy is imported before the streams are guarded and the process is bound to its host.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

from enfilade_sdk.serving.command_line import CommandLine, read_command_line
from enfilade_sdk.serving.doorway import guard_streams
from enfilade_sdk.serving.handshake import (
    HandshakeError,
    Launch,
    choose_protocol,
    handshake_line,
    read_launch,
)
from enfilade_sdk.serving.lifeline import die_with_parent, watch


def main(arguments: Sequence[str], streams: tuple[TextIO, int] | None = None) -> NoReturn:
    """Serves the strategies named in the arguments until the host is done with this process.

    With `--listen` it serves at an address until it is told to end by SIGINT or SIGTERM.

    Args:
        arguments: See `command_line`.
        streams: What `guard_streams` gave, when that was called before; hosts' own copies of `doorway` call this, so
            it must go on taking the two.
    """
    out, lifeline = streams or guard_streams()
    try:
        line = read_command_line(arguments)
        if line.listen:
            _listen(line, out)
        else:
            launch = read_launch(lifeline)
            die_with_parent(launch.parent)
            watch(lifeline)
            _serve(launch, line, out)
    except HandshakeError as error:
        sys.stderr.write(f"{error}\n")
        leave(1)
    leave(0)


def _serve(launch: Launch, line: CommandLine, out: TextIO) -> None:
    gc.disable()  # what is imported stays; looking through it again and again would only slow the start

    import asyncio

    from enfilade_sdk.codec import PROTOCOL
    from enfilade_sdk.serving.address import unix_address
    from enfilade_sdk.serving.opening import open_plugin
    from enfilade_sdk.serving.server import StrategyServicer, make_server, serve_until, socket_path

    protocol = choose_protocol(launch, PROTOCOL)
    plugin = open_plugin(line)
    gc.freeze()
    gc.enable()

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        servicer = StrategyServicer(plugin, token=launch.token)
        server = make_server(servicer, stop.set, max_message_bytes=launch.max_message_bytes)
        path = socket_path(launch.socket_dir)
        server.add_insecure_port(unix_address(path))
        await server.start()
        out.write(handshake_line(protocol, path) + "\n")
        out.close()
        await serve_until(stop, server)
        leave(0)

    asyncio.run(run())


def _listen(line: CommandLine, out: TextIO) -> None:
    import asyncio

    from enfilade_sdk.serving.listening import listen
    from enfilade_sdk.serving.opening import open_plugin

    plugin = open_plugin(line)

    async def run() -> None:
        await listen(line, plugin, out)
        leave(0)

    asyncio.run(run())


def leave(code: int) -> NoReturn:
    """Ends without waiting for a strategy's threads, which may never end."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

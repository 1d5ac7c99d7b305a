"""A plugin process from its first line to its last.

Nothing heavy is imported before the streams are guarded and the process is bound to its host.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TextIO

from enfilade_sdk.serving.command_line import CommandLine, read_command_line
from enfilade_sdk.serving.doorway import guard_streams
from enfilade_sdk.serving.handshake import (
    LINK,
    HandshakeError,
    Launch,
    choose_protocol,
    choose_transport,
    handshake_line,
    read_launch,
    socket_path,
)
from enfilade_sdk.serving.lifeline import die_with_parent, watch

if TYPE_CHECKING:
    import asyncio

    from enfilade_sdk.serving.plugin import Plugin


class Serving(Protocol):
    """A server that was started."""

    async def serve_until(self, stop: "asyncio.Event") -> None:
        """Serves until `stop` is set, then gives open runs a moment."""
        ...


Starter = Callable[["Plugin", Launch, str, "asyncio.Event"], Coroutine[Any, Any, Serving]]


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
    from enfilade_sdk.serving.opening import open_plugin

    protocol, transport = choose_protocol(launch, PROTOCOL), choose_transport(launch)
    started = _server_of(transport)
    plugin = open_plugin(line)
    gc.freeze()
    gc.enable()

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        path = socket_path(launch.socket_dir)
        server = await started(plugin, launch, path, stop)
        out.write(handshake_line(protocol, path, transport) + "\n")
        out.close()
        await server.serve_until(stop)
        leave(0)

    asyncio.run(run())


def _server_of(transport: str) -> Starter:
    """What starts the server of a transport; grpc, a large part of a process's memory, is imported only for its own."""
    if transport == LINK:
        from enfilade_sdk.serving.link_server import started as over_link

        return over_link
    from enfilade_sdk.serving.server import started as over_grpc

    return over_grpc


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

"""The plugin's end of the plain transport: one link from the host that started this process, a task for each run."""

import asyncio
import hmac
import logging
from collections.abc import Callable
from functools import partial

from enfilade_sdk.serving.description import describe_plugin
from enfilade_sdk.serving.handshake import Launch
from enfilade_sdk.serving.link import Kind, Link, LinkStream, StreamBrokenError
from enfilade_sdk.serving.plugin import Plugin
from enfilade_sdk.serving.run import GuestRun
from enfilade_wire.v1 import strategy_pb2 as pb

_log = logging.getLogger(__name__)

SHUTDOWN_GRACE = 1.0
"""Seconds that open runs have after a shutdown was asked for."""


class LinkServer:
    """Serves the links that come with the launch's token; anything else is closed."""

    def __init__(self, plugin: Plugin, token: str, limit: int, on_shutdown: Callable[[], None]) -> None:
        self.plugin = plugin
        self.token = token.encode()
        self.on_shutdown = on_shutdown
        self.runs: set[asyncio.Task[None]] = set()
        self.links: set[Link] = set()
        self._limit = limit
        self._server: asyncio.AbstractServer | None = None

    async def start(self, path: str) -> None:
        """Listens at a path."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(lambda: HostLink(self, self._limit).link, path)

    async def serve_until(self, stop: asyncio.Event) -> None:
        """Serves until `stop` is set, then gives open runs the grace period, and no more."""
        await stop.wait()
        if self._server is not None:
            self._server.close()
        if self.runs:
            await asyncio.wait(self.runs, timeout=SHUTDOWN_GRACE)
        for link in list(self.links):
            link.close("the plugin ends")


class HostLink:
    """What comes from one host."""

    def __init__(self, server: LinkServer, limit: int) -> None:
        self.link = Link(self, limit)
        self._server = server
        server.links.add(self.link)
        self._greeted = not server.token
        self._last = 0
        self._streams: dict[int, LinkStream[pb.HostFrame]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def block(self, kind: int, stream: int, payload: bytes) -> None:
        """Takes a block of the host."""
        if not self._greeted or kind == Kind.HELLO:
            self._greet(kind, payload)
        elif kind == Kind.PING:
            self.link.send(Kind.PONG, stream)
        elif kind == Kind.DESCRIBE:
            self.link.send(Kind.DATA, stream, describe_plugin(self._server.plugin).SerializeToString())
        elif kind == Kind.SHUTDOWN:
            self._server.on_shutdown()
        elif known := self._stream(stream, opens=kind == Kind.DATA):
            self._of_run(known, kind, payload)

    def _of_run(self, stream: LinkStream[pb.HostFrame], kind: int, payload: bytes) -> None:
        if kind == Kind.DATA:
            stream.took(payload)
        elif kind == Kind.CREDIT:
            stream.credited(int.from_bytes(payload, "big"))
        elif kind == Kind.END:
            self._tasks[stream.number].cancel()

    def lost(self, reason: StreamBrokenError) -> None:
        """Without a host nothing goes on."""
        self._server.links.discard(self.link)
        for stream in self._streams.values():
            stream.broke(reason)
        for task in self._tasks.values():
            task.cancel()

    def _greet(self, kind: int, payload: bytes) -> None:
        if kind != Kind.HELLO or not hmac.compare_digest(payload, self._server.token):
            raise StreamBrokenError("it is missing or wrong", rule="the launch token is first", lost=True)
        self._greeted = True

    def _stream(self, number: int, *, opens: bool) -> LinkStream[pb.HostFrame] | None:
        """The stream of that number, opened by its first frame; None for one that has ended."""
        stream = self._streams.get(number)
        if stream is None and opens and number > self._last:
            self._last = number
            stream = self._streams[number] = LinkStream(self.link, number, pb.HostFrame.FromString)
            task = self._tasks[number] = asyncio.ensure_future(self._run(stream))
            self._server.runs.add(task)
            # A task that is cancelled before its first step runs no line of its own, so what ends it stands outside.
            task.add_done_callback(partial(self._ended, number))
        return stream

    async def _run(self, stream: LinkStream[pb.HostFrame]) -> None:
        try:
            await GuestRun(stream, self._server.plugin.find).serve()
        except Exception:  # noqa: BLE001 - its text must not leak; the host sees a stream without an end
            _log.exception("a run broke off")

    def _ended(self, number: int, task: "asyncio.Task[None]") -> None:
        self._server.runs.discard(task)
        del self._streams[number], self._tasks[number]
        if self.link.broken is None:
            self.link.send(Kind.END, number)


async def started(plugin: Plugin, launch: Launch, path: str, stop: asyncio.Event) -> LinkServer:
    """Serves a launch at a path; the host's shutdown sets `stop`."""
    server = LinkServer(plugin, launch.token, launch.max_message_bytes, stop.set)
    await server.start(path)
    return server

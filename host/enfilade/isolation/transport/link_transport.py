"""The host's end of the plain link to a process that it started."""

import asyncio
import contextlib
from collections.abc import Callable

from enfilade_sdk.serving.handshake import MAX_MESSAGE_BYTES
from enfilade_sdk.serving.link import Kind, Link, LinkStream, StreamBrokenError
from enfilade_wire.v1 import strategy_pb2 as pb


class LinkTransport:
    """All runs of a process over one socket."""

    def __init__(self, path: str, token: str) -> None:
        self._path = path
        self._token = token
        self._link = Link(self, MAX_MESSAGE_BYTES)
        self._connected = False
        self._when_lost: Callable[[StreamBrokenError], None] | None = None
        self._last = 0
        self._streams: dict[int, LinkRunStream] = {}
        self._unwritten: set[LinkRunStream] = set()
        self._answers: dict[int, asyncio.Future[bytes]] = {}

    async def describe(self, seconds: float) -> pb.DescribeResponse:
        """Connects if need be; asks what the plugin offers."""
        async with asyncio.timeout(seconds):
            if not self._connected:
                await self._connect()
            payload = await self._ask(Kind.DESCRIBE)
        try:
            return pb.DescribeResponse.FromString(payload)
        except Exception:  # noqa: BLE001 - protobuf's error, which the pure Python parser has otherwise than upb
            raise StreamBrokenError(
                f"{len(payload)} other bytes", rule="the answer to describe is its response"
            ) from None

    async def alive(self, seconds: float) -> bool:
        """Whether the plugin's loop turns."""
        try:
            async with asyncio.timeout(seconds):
                await self._ask(Kind.PING)
        except (TimeoutError, StreamBrokenError):
            return False
        return True

    def when_lost(self, tell: Callable[[StreamBrokenError], None]) -> None:
        """Has somebody told when the socket is closed, by whomever."""
        self._when_lost = tell

    def open_run(self) -> "LinkRunStream":
        """A stream for one run, which costs nothing until it is written to."""
        stream = LinkRunStream(self._link, self._enter, self._unwritten)
        self._unwritten.add(stream)
        if self._link.broken is not None:
            stream.broke(self._link.broken)
        return stream

    async def shut_down(self, _seconds: float) -> None:
        """Asks the process to end."""
        with contextlib.suppress(StreamBrokenError):
            self._link.send(Kind.SHUTDOWN)

    async def close(self) -> None:
        """Closes the socket."""
        self._link.close("the host closed the connection")

    def block(self, kind: int, stream: int, payload: bytes) -> None:
        """Takes a block of the plugin."""
        known = self._streams.get(stream)
        if known is not None and kind == Kind.DATA:
            known.took(payload)
        elif known is not None and kind == Kind.CREDIT:
            known.credited(int.from_bytes(payload, "big"))
        elif known is not None and kind == Kind.END:
            known.ended()
            del self._streams[stream]
        elif kind in (Kind.DATA, Kind.PONG) and stream in self._answers:
            if not self._answers[stream].done():
                self._answers[stream].set_result(payload)
        elif kind != Kind.PONG and (kind not in (Kind.END, Kind.CREDIT) or stream > self._last):  # these may come late
            raise StreamBrokenError(f"kind {kind} of {stream}", rule="a block is of a stream that is open", lost=True)

    def lost(self, reason: StreamBrokenError) -> None:
        """Breaks every stream that is left."""
        for stream in (*self._streams.values(), *self._unwritten):
            stream.broke(reason)
        self._streams.clear()
        self._unwritten.clear()
        if self._when_lost is not None:
            self._when_lost(reason)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(reason)

    async def _connect(self) -> None:
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: self._link, self._path)
        except OSError as error:
            raise StreamBrokenError(f"cannot connect to its socket: {error.strerror}", lost=True) from None
        self._connected = True
        self._link.send(Kind.HELLO, 0, self._token.encode())

    async def _ask(self, kind: Kind) -> bytes:
        number = self._number()
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            self._link.send(kind, number)
            return await answer
        finally:
            del self._answers[number]

    def _enter(self, stream: "LinkRunStream") -> int:
        """Numbers a stream whose first frame leaves now: a plugin takes a number below the last for an ended run."""
        self._unwritten.discard(stream)
        number = self._number()
        self._streams[number] = stream
        return number

    def _number(self) -> int:
        self._last += 1
        return self._last


class LinkRunStream(LinkStream[pb.PluginFrame]):
    """The stream of one run, among those of its link."""

    def __init__(self, link: Link, enter: "Callable[[LinkRunStream], int]", unwritten: "set[LinkRunStream]") -> None:
        super().__init__(link, 0, pb.PluginFrame.FromString)
        self._enter = enter
        self._unwritten = unwritten

    def cancel(self) -> None:
        """Gives the run up."""
        self._unwritten.discard(self)
        self.give_up()

    def _begin(self) -> None:
        self.number = self._enter(self)

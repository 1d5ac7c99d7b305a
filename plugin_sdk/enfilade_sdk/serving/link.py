"""The plain transport between a host and a plugin process that it started: many streams over one unix socket.

A block on the socket is nine bytes, its payload's length, its stream's number and its kind, and then the payload: the
same frames that gRPC would carry. Both ends speak it with the classes here. gRPC stays the transport for plugins that
are not started by this launcher or do not use this SDK.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from struct import Struct
from typing import Generic, Protocol, TypeVar, cast

WINDOW = 256 * 1024
"""Bytes that one stream may have under way, unread, before its sender waits; the last frame may go over it."""

AT_ONCE = 16
"""Frames that a reader may have in one turn of the loop, which others wait for."""

ROOM, MORE_ROOM = 4 * 1024, 256 * 1024
"""Bytes that are read from the socket at once: of small blocks few, so that the answers to the first need not wait for
the last; of a large one as many as it lacks, up to the second number.
"""

SENT_AT_ONCE = 4 * 1024
"""Bytes that wait for the end of a turn before they leave at once: the peer begins while this side goes on."""

FRAME_LIMIT = "a frame is within the limit"

HEADER = Struct(">IIB")


class Kind(IntEnum):
    """What a block is."""

    HELLO = 0
    """First from the host: the launch token."""
    DATA = 1
    """A frame of the stream."""
    END = 2
    """From the plugin: nothing more comes. From the host: the run is given up."""
    CREDIT = 3
    """So many bytes of the stream were read."""
    PING = 4
    """Answered with PONG of the same number by a process whose loop turns."""
    PONG = 5
    DESCRIBE = 6
    """Answered with DATA of the same number: a `DescribeResponse`."""
    SHUTDOWN = 7
    """The process is to end; its runs have a moment."""


class Message(Protocol):
    """A protobuf message, as far as it is needed here."""

    def SerializeToString(self) -> bytes:  # noqa: N802 - protobuf's name
        """Its bytes."""
        ...


Received = TypeVar("Received")


class StreamBrokenError(Exception):
    """A stream or the connection under it is over, or the peer broke a rule.

    Attributes:
        reason: What happened.
        rule: The rule of the transport that the peer broke, if it did.
        lost: Whether the whole connection is gone, and not this stream alone.
    """

    def __init__(self, reason: str, *, rule: str = "", lost: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule
        self.lost = lost


class LinkOwner(Protocol):
    """Whoever has a link."""

    def block(self, kind: int, stream: int, payload: bytes) -> None:
        """Takes a block.

        Raises:
            StreamBrokenError: It breaks a rule; the link is closed.
        """
        ...

    def lost(self, reason: StreamBrokenError) -> None:
        """Hears, once, that the link is down."""
        ...


class Link(asyncio.BufferedProtocol):
    """One socket. What is sent in one turn of the loop leaves in one write."""

    def __init__(self, owner: LinkOwner, limit: int) -> None:
        self._owner = owner
        self._limit = limit
        self._transport: asyncio.Transport | None = None
        self._room = bytearray(ROOM)
        self._unread = bytearray()
        self._missing = 0
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._full: asyncio.Future[None] | None = None
        self._reason: StreamBrokenError | None = None

    @property
    def broken(self) -> StreamBrokenError | None:
        """Why it is down; None while it is up."""
        return self._reason

    @property
    def full(self) -> "asyncio.Future[None] | None":
        """Done when the socket takes bytes again; None while it does."""
        return self._full

    def send(self, kind: Kind, stream: int = 0, payload: bytes = b"") -> None:
        """Sends a block at the end of this turn, with many others before it. Data come here when their window has room.

        Raises:
            StreamBrokenError: The link is down.
        """
        if self._reason is not None:
            raise self._reason
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent += (HEADER.pack(len(payload), stream, kind), payload)
        self._unsent_bytes += HEADER.size + len(payload)
        if self._unsent_bytes >= SENT_AT_ONCE:
            self._flush()

    def close(self, reason: str) -> None:
        """Sends what was given and closes."""
        self._flush()
        self._end(StreamBrokenError(reason, lost=True))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio's: the socket is there."""
        self._transport = cast(asyncio.Transport, transport)  # by its use, not its class: uvloop's has no such base

    def get_buffer(self, _sizehint: int) -> bytearray:
        """asyncio's: where to read to."""
        size = max(ROOM, min(self._missing, MORE_ROOM))
        if len(self._room) != size:
            self._room = bytearray(size)
        return self._room

    def buffer_updated(self, size: int) -> None:
        """asyncio's: so many bytes came."""
        self.feed(bytes(memoryview(self._room)[:size]))

    def feed(self, data: bytes) -> None:
        """Takes the next bytes."""
        if self._unread:
            self._unread += data
            used = self._blocks(self._unread)
            del self._unread[:used]
        else:
            used = self._blocks(data)
            if used < len(data):
                self._unread += data[used:]

    def _blocks(self, data: bytes | bytearray) -> int:
        """Hands on the blocks that are whole; gives how many bytes those were."""
        at, size = 0, len(data)
        self._missing = 0
        try:
            while size - at >= HEADER.size:
                length, stream, kind = HEADER.unpack_from(data, at)
                if length > self._limit:
                    raise StreamBrokenError(f"{length} bytes, the limit is {self._limit}", rule=FRAME_LIMIT, lost=True)
                start = at + HEADER.size
                if start + length > size:
                    self._missing = start + length - size
                    break
                at = start + length
                self._owner.block(kind, stream, bytes(data[start:at]))
        except StreamBrokenError as error:
            self._end(error)
        return at

    def pause_writing(self) -> None:
        """asyncio's: the socket is full."""
        if self._full is None:
            self._full = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """asyncio's: it has room again."""
        if self._full is not None and not self._full.done():
            self._full.set_result(None)
        self._full = None

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio's: the socket is closed."""
        reason = f"the connection broke: {exc}" if exc else "the connection was closed"
        self._end(StreamBrokenError(reason, lost=True))

    def _flush(self) -> None:
        unsent, self._unsent, self._unsent_bytes = self._unsent, [], 0
        if unsent and self._transport is not None and self._reason is None:
            self._transport.write(b"".join(unsent))

    def _end(self, reason: StreamBrokenError) -> None:
        if self._reason is not None:
            return
        self._reason = reason
        self.resume_writing()
        if self._transport is not None:
            self._transport.close()
        self._owner.lost(reason)


class LinkStream(Generic[Received]):
    """One stream of a link, with a window each way.

    Attributes:
        number: Its number on the link; 0 while it has none.
        frame_bytes: Bytes of the frame that was read last.
        written: Whether the peer has heard of it.
    """

    def __init__(self, link: Link, number: int, parse: Callable[[bytes], Received]) -> None:
        self.number = number
        self.frame_bytes = 0
        self.written = False
        self._link = link
        self._parse = parse
        self._frames: deque[bytes] = deque()
        self._unread = self._uncredited = self._at_once = 0
        self._window = WINDOW
        self._over: StreamBrokenError | None = None
        self._ended = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    @property
    def done(self) -> bool:
        """Whether it is over and all that came was read."""
        return (self._ended or self._over is not None) and not self._frames

    async def read(self) -> Received | None:
        """The next frame; None at the end. A reader that is cancelled loses nothing.

        Raises:
            StreamBrokenError: The link broke before the end, or what came is no frame.
        """
        while not self._frames:
            if self._over is not None:
                raise self._over
            if self._ended:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            self._at_once = 0
            await self._reader
        if self._at_once == AT_ONCE:
            self._at_once = 0
            await asyncio.sleep(0)
            if not self._frames:  # given up meanwhile
                return await self.read()
        self._at_once += 1
        payload = self._frames.popleft()
        self._count(len(payload))
        try:
            return self._parse(payload)
        except Exception:  # noqa: BLE001 - protobuf's error, which the pure Python parser has otherwise than upb
            raise StreamBrokenError(f"{len(payload)} other bytes", rule="a block of data is a frame") from None

    async def write(self, message: Message) -> None:
        """Sends a frame; waits for the window and the socket.

        Raises:
            StreamBrokenError: The link or the stream is over.
        """
        while True:
            if self._over is not None:
                raise self._over
            if self._ended:
                raise StreamBrokenError("the stream is over")
            if self._window <= 0:
                self._writer = asyncio.get_running_loop().create_future()
                await self._writer
            elif self._link.full is not None:
                await asyncio.shield(self._link.full)
            else:
                break
        payload = message.SerializeToString()
        self._window -= len(payload)
        if not self.written:
            self._begin()
        self.written = True
        self._link.send(Kind.DATA, self.number, payload)

    def _begin(self) -> None:
        """Hears that its first frame is about to leave."""

    def took(self, payload: bytes) -> None:
        """A frame came.

        Raises:
            StreamBrokenError: It came over the window.
        """
        if self._unread >= WINDOW:
            raise StreamBrokenError(f"more than {WINDOW} bytes", rule="a stream sends within its window", lost=True)
        self._unread += len(payload)
        if self._over is None and payload:  # an empty frame says nothing, and no window bounds how many come
            self._frames.append(payload)
            _wake(self._reader)

    def credited(self, size: int) -> None:
        """The peer has read so many bytes."""
        self._window += size
        _wake(self._writer)

    def ended(self) -> None:
        """The peer's end came."""
        self._ended = True
        _wake(self._reader)
        _wake(self._writer)

    def give_up(self) -> None:
        """Tells the peer that nothing more of it is wanted; what still comes is dropped, within the window."""
        if self._over is None and not self._ended:
            self._over = StreamBrokenError("the stream was given up")
            if self._link.broken is None and self.number:
                self._link.send(Kind.END, self.number)
        self._frames.clear()
        _wake(self._reader)
        _wake(self._writer)

    def broke(self, reason: StreamBrokenError) -> None:
        """The link is down; what had come may still be read."""
        if not self._ended:
            self._over = self._over or reason
            self._ended = True
        _wake(self._reader)
        _wake(self._writer)

    def _count(self, size: int) -> None:
        self.frame_bytes = size
        self._uncredited += size
        if self._uncredited >= WINDOW // 2:
            self._unread -= self._uncredited
            if self._link.broken is None and not self._ended:
                self._link.send(Kind.CREDIT, self.number, self._uncredited.to_bytes(4, "big"))
            self._uncredited = 0


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)

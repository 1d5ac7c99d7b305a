"""Server-sent events, read from bytes as they arrive."""

from typing import NamedTuple

EVENT_LIMIT = 8 * 2**20
"""Bytes that one line, and one event, may have."""

_BOM = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """One event: its data, lines joined by a line feed, and its name (empty for a plain message)."""

    data: bytes
    name: bytes = b""


class SseOverflowError(ValueError):
    """A line or an event is longer than the limit."""


class SseReader:
    """Cuts a byte stream into events (WHATWG HTML, "server-sent events").

    Servers that leave out the blank lines between events are read too: a line that cannot go on with the JSON value
    before it begins an event. So are those that write a JSON object, mostly of an error, without `data:`. Lines end at
    CR, LF or CRLF and nowhere else; the bytes are never decoded here, so a character cut by the network stays whole.
    Work is linear in the bytes fed, and what is kept between two parts is bounded.

    Args:
        limit: Bytes that one line, and one event's data, may have.
    """

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._held = 0
        self._after_cr = False
        self._started = False
        self._is_between = True
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""

    def feed(self, part: bytes) -> list[SseEvent]:
        """The events that the next part of the stream completes.

        Raises:
            SseOverflowError: A line or an event is longer than the limit.
        """
        if self._is_between and (datas := self._plain(part)):
            self._started = True
            return [SseEvent(data) for data in datas]
        if not self._started:
            part = self._start(part)
        if self._after_cr and part:
            self._after_cr = False
            part = part.removeprefix(b"\n")
        if b"\r" in part:
            self._after_cr = part.endswith(b"\r")
            part = part.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = part.split(b"\n")
        last = lines.pop()
        if lines and self._pieces:
            lines[0] = self._held_line(lines[0])
        events = [event for line in lines if (event := self._line(line)) is not None]
        self._hold(last)
        self._is_between = not (self._pieces or self._data or self._name or self._after_cr)
        return events

    def end(self) -> list[SseEvent]:
        """The event the stream ended in, if it lacks only its blank line; two, where the one before lacks it too.

        The standard drops such an event; some servers close right after their last line, so it is given out, and
        whoever reads its data can tell whether it is whole.
        """
        events = (self._line(self._held_line(b"")) if self._pieces else None, self._dispatch())
        return [event for event in events if event is not None]

    def _plain(self, part: bytes) -> list[bytes]:
        """The data of a part that is nothing but whole events of one plain line, as most are; empty when it is not."""
        if part[:6] != b"data: " or part[-2:] != b"\n\n" or b"\r" in part or len(part) > self._limit:
            return []
        datas = part[6:-2].split(b"\n\ndata: ")
        return datas if part.count(b"\n") == 2 * len(datas) else []

    def _start(self, part: bytes) -> bytes:
        """Takes off a byte order mark, which may itself be cut."""
        part = b"".join([*self._pieces, part])
        self._pieces, self._held = [], 0
        if len(part) < len(_BOM) and _BOM.startswith(part):
            self._hold(part)
            return b""
        self._started = True
        return part.removeprefix(_BOM)

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._held += len(piece)
        if self._held > self._limit:
            raise SseOverflowError(f"a line of the event stream is longer than {self._limit} bytes")
        self._pieces.append(piece)

    def _held_line(self, rest: bytes) -> bytes:
        line = b"".join([*self._pieces, rest])
        self._pieces, self._held = [], 0
        return line

    def _line(self, line: bytes) -> SseEvent | None:
        if not line:
            return self._dispatch()
        if line.startswith(b"data:"):
            return self._add(line[6:] if line[5:6] == b" " else line[5:])
        if line.startswith(b"{"):
            return self._add(line)
        if line.startswith(b"event:"):
            self._name = line[6:].strip()
        elif line == b"data":
            self._keep(b"")
        return None

    def _add(self, data: bytes) -> SseEvent | None:
        before = self._dispatch() if self._data and _begins_anew(self._data[-1], data) else None
        self._keep(data)
        return before

    def _keep(self, data: bytes) -> None:
        self._size += len(data) + 1
        if self._size > self._limit:
            raise SseOverflowError(f"an event of the stream is longer than {self._limit} bytes")
        self._data.append(data)

    def _dispatch(self) -> SseEvent | None:
        data, name = self._data, self._name
        if not data:
            self._name = b""
            return None
        self._data, self._name, self._size = [], b"", 0
        return SseEvent(data[0] if len(data) == 1 else b"\n".join(data), name)


def _begins_anew(before: bytes, data: bytes) -> bool:
    """Whether a line of data is no part of the JSON value that the line before it ends."""
    return before.rstrip()[-1:] == b"}" and (data.lstrip()[:1] == b"{" or is_end(data))


def is_end(data: bytes) -> bool:
    """Whether data is the mark that ends a stream: `[DONE]`, as servers write it."""
    return data.strip(b' \t"').lower() == b"[done]"

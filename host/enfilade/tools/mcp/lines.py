"""Cuts what a server prints into lines, and bounds what it may cost."""

from collections.abc import Callable, Iterator
from time import monotonic

LINE_LIMIT = 96 * 1024 * 1024
"""Bytes of one line; a file of 64 MiB fits into it in base64."""

BURST = 4 * 1024 * 1024
"""Bytes that nobody asked for which are read as they come."""

RATE = 1024 * 1024
"""Bytes a second that nobody asked for which are read after a burst."""

_LINE_COST = 256


class OverlongLineError(Exception):
    """A line does not end where every message would have ended."""


class Lines:
    """Puts lines together from pieces that are cut anywhere, in a time that grows with their length only.

    Args:
        limit: Bytes of the longest line.
    """

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in the data, without their ends.

        Raises:
            OverlongLineError: The unfinished line is over the limit.
        """
        *ended, rest = data.split(b"\n")
        for line in ended:
            yield self._whole(line)
        self._pieces.append(rest)
        self._size += len(rest)
        if self._size > self._limit:
            self._pieces.clear()
            raise OverlongLineError

    def rest(self) -> bytes:
        """The last line, which has no end."""
        return self._whole(b"")

    def _whole(self, end: bytes) -> bytes:
        if not self._pieces:
            return end
        line = b"".join([*self._pieces, end])
        self._pieces.clear()
        self._size = 0
        return line


class Allowance:
    """Says for how long a server is to be left unread that says more than anybody wants to know.

    Args:
        clock: Seconds that only go forward.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._left = float(BURST)
        self._seen = clock()

    def spend(self, size: int) -> None:
        """Counts a line of that many bytes."""
        self._left -= size + _LINE_COST

    def pause(self) -> float:
        """Seconds to leave it unread; 0 as long as it is within its allowance."""
        now = self._clock()
        self._left = min(float(BURST), self._left + (now - self._seen) * RATE)
        self._seen = now
        return max(0.0, -self._left / RATE)

"""The last lines of what a tool printed: bounded, printable, without secrets."""

import codecs
import re
from collections import deque
from collections.abc import Callable

KEPT_LINES = 20
"""Lines that an error shows."""

TOLD_LINES = 200
"""Lines of one piece that are looked at: of a flood only the end of each piece is."""

LINE_LIMIT = 1000
"""Characters of a line that are kept."""

_OPEN_LIMIT = 16 * 1024
_CREDENTIALS = re.compile(r"(?<=://)[^\s/@]+@")
_CUT_CREDENTIALS = re.compile(r"(?<=://)[^\s/@]*$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Tail:
    """Takes output in pieces, gives whole lines to a listener, and keeps the last."""

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self._listener = listener
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._open = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def feed(self, data: bytes) -> None:
        """Takes a piece as it came; bytes that are no UTF-8 are shown as such."""
        *lines, self._open = (self._open + self._decoder.decode(data)).replace("\r", "\n").split("\n")
        for line in lines[-TOLD_LINES:]:
            self._take(line)
        self._open = self._open[:_OPEN_LIMIT]

    def close(self) -> None:
        """Takes what came without an end of line as a line."""
        self._take(self._open)
        self._open = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines."""
        return tuple(self._lines)

    def _take(self, line: str) -> None:
        line = presentable(line)
        if line:
            self._lines.append(line)
            if self._listener is not None:
                self._listener(line)


def presentable(line: str) -> str:
    """A line as it may be shown: no user names and passwords of addresses, no control characters, not too long."""
    line = _CREDENTIALS.sub("***@", _COLOUR.sub("", line)).rstrip()
    if len(line) > LINE_LIMIT:
        line = _CUT_CREDENTIALS.sub("***", line[:LINE_LIMIT])
    return "".join(c if c.isprintable() else "?" for c in line.expandtabs())

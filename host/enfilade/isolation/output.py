"""What a guest prints: drained for ever, bounded, logged with its name, the last lines kept for errors.

A line is hostile input: it is cut, its control characters are made visible, its level is only believed when
it is one of the known words. A guest that floods is slowed: its pipe is left unread for a while.
"""

import json
import logging
import re
from collections import deque
from collections.abc import Callable
from time import monotonic

from enfilade.isolation.journal import Journal

TAIL_LINES = 50
"""Lines kept for the error of a crash or of a failed start."""

LINE_LIMIT = 8 * 1024
"""Bytes of a line that are kept."""

BURST = 4 * 1024 * 1024
"""Bytes that are read as they come."""

RATE = 1024 * 1024
"""Bytes a second that are read of a guest that goes on after a burst."""

_LINE_COST = 256
_PREFIX = re.compile(r"^\[(DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)\]\s*")
_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class OutputTail:
    """Takes in what one guest prints and remembers the last lines.

    Args:
        plugin: The plugin's name, for the log.
        clock: Seconds that only go forward.
        journal: Masks what is printed and passes it on.

    Attributes:
        pid: The process, once there is one.
    """

    def __init__(self, plugin: str, clock: Callable[[], float] = monotonic, journal: Journal | None = None) -> None:
        self.pid: int | None = None
        self._journal = journal
        self._logger = logging.getLogger(f"enfilade.plugin.{plugin}")
        self._lines: deque[str] = deque(maxlen=TAIL_LINES)
        self._rests: dict[int, bytes] = {}
        self._clock = clock
        self._allowance = float(BURST)
        self._seen = clock()

    @property
    def lines(self) -> list[str]:
        """The last lines, oldest first."""
        return list(self._lines)

    def text(self) -> str:
        """The last lines as the end of an error message; says so when nothing was printed."""
        return "; it printed nothing" if not self._lines else "; its last lines:\n  " + "\n  ".join(self._lines)

    def feed(self, stream: int, data: bytes) -> float:
        """Takes in what came from a stream.

        Args:
            stream: Which one, by its descriptor's number; lines of several do not mix.
            data: The bytes.

        Returns:
            For how many seconds the stream is to be left unread.
        """
        *lines, rest = (self._rests.get(stream, b"") + data).split(b"\n")
        self._rests[stream] = rest[:LINE_LIMIT]
        for line in lines:
            self._keep(line)
        return self._pause(len(data) + _LINE_COST * len(lines))

    def end(self, stream: int) -> None:
        """Takes in the last line of a stream that has ended, which may lack its line end."""
        if rest := self._rests.pop(stream, b""):
            self._keep(rest)

    def _pause(self, cost: int) -> float:
        now = self._clock()
        self._allowance = min(float(BURST), self._allowance + (now - self._seen) * RATE) - cost
        self._seen = now
        return max(0.0, -self._allowance / RATE)

    def _keep(self, raw: bytes) -> None:
        text = printable(raw[:LINE_LIMIT])
        if not text.strip():
            return
        level, message = read_level(text)
        if self._journal is not None:
            message = self._journal.mask(message)
            self._journal.line(self.pid, level, message)
        self._lines.append(message)
        if self._logger.isEnabledFor(level):
            self._logger.log(level, "%s", message)


def printable(raw: bytes) -> str:
    """A line as text, with control characters made visible."""
    return visible(raw.decode("utf-8", "replace").rstrip("\r"))


def visible(text: str) -> str:
    """A text that fits on one line: what would move a terminal, end a line or fit into no file is made visible."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def read_level(text: str) -> tuple[int, str]:
    """The level and message of a line: hclog's JSON, a `[LEVEL]` prefix, else INFO and the line as it is."""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return logging.INFO, text
        level, message = value.get("@level", value.get("level")), value.get("@message", value.get("msg"))
        if isinstance(level, str) and level.lower() in _LEVELS and isinstance(message, str):
            return _LEVELS[level.lower()], visible(message)  # what stood there as `\u001b`
        return logging.INFO, text
    found = _PREFIX.match(text)
    if found is None:
        return logging.INFO, text
    return _LEVELS[found.group(1).lower()], text[found.end() :]

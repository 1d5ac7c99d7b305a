"""What a guest prints: drained for ever, bounded, logged with its name, the last lines kept for errors.

A line is hostile input: it is cut, its control characters are made visible, its level is only believed when
it is one of the known words.
"""

import asyncio
import json
import logging
import re
from collections import deque

TAIL_LINES = 50
"""Lines kept for the error of a crash or of a failed start."""

LINE_LIMIT = 8 * 1024
"""Bytes of a line that are kept."""

_READ = 64 * 1024
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
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class OutputTail:
    """Drains one guest's stdout and stderr into the log and remembers the last lines."""

    def __init__(self, plugin: str) -> None:
        self._logger = logging.getLogger(f"enfilade.plugin.{plugin}")
        self._lines: deque[str] = deque(maxlen=TAIL_LINES)

    @property
    def lines(self) -> list[str]:
        """The last lines, oldest first."""
        return list(self._lines)

    def text(self) -> str:
        """The last lines as the end of an error message; empty when nothing was printed."""
        return "; it printed nothing" if not self._lines else "; its last lines:\n  " + "\n  ".join(self._lines)

    async def drain(self, stream: asyncio.StreamReader, first: bytes = b"") -> None:
        """Reads until the end; `first` are bytes that were read already."""
        rest = first
        while chunk := await stream.read(_READ):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._keep(line)
            rest = rest[:LINE_LIMIT]
        if rest:
            self._keep(rest)

    def _keep(self, raw: bytes) -> None:
        text = printable(raw[:LINE_LIMIT])
        if not text.strip():
            return
        level, message = read_level(text)
        self._lines.append(message)
        if self._logger.isEnabledFor(level):
            self._logger.log(level, "%s", message)


def printable(raw: bytes) -> str:
    """A line as text, with control characters made visible."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", raw.decode("utf-8", "replace").rstrip("\r"))


def read_level(text: str) -> tuple[int, str]:
    """The level and message of a line: hclog's JSON, a `[LEVEL]` prefix, else INFO and the line as it is."""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return logging.INFO, text
        level, message = value.get("@level", value.get("level")), value.get("@message", value.get("msg"))
        if isinstance(level, str) and level.lower() in _LEVELS and isinstance(message, str):
            return _LEVELS[level.lower()], message
        return logging.INFO, text
    found = _PREFIX.match(text)
    if found is None:
        return logging.INFO, text
    return _LEVELS[found.group(1).lower()], text[found.end() :]

"""Reads plugins' log files, the ones that were put aside included, and follows what is added."""

import os
import re
import time
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from enfilade.running.logbook import OLDER, log_file

LOOK_SECONDS = 0.2
"""How often a file that is followed is looked at."""

_LINE = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z) ([A-Z]+) (\d+|-) (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line.

    Attributes:
        time: When, in UTC, as ISO 8601.
        level: How grave it is.
        pid: The process; None when it is about the plugin.
        text: What was printed, or `[STATE]: reason`.
    """

    time: str
    level: str
    pid: int | None
    text: str


def logged_plugins(folder: Path) -> list[str]:
    """The names of the log files there are."""
    return sorted(path.name.removesuffix(".log") for path in folder.glob("*.log"))


def last_lines(folder: Path, plugin: str, number: int) -> tuple[list[LogLine], int]:
    """The last lines, oldest first, and where the current file ended then.

    Args:
        folder: Where the files are.
        plugin: The plugin's name.
        number: How many.

    Raises:
        FileNotFoundError: There is no log of this plugin.
    """
    path = log_file(folder, plugin)
    current = path.read_bytes()
    whole = current[: current.rfind(b"\n") + 1]
    lines: deque[bytes] = deque(maxlen=max(number, 0))
    for older in range(OLDER, 0, -1):
        aside = path.with_name(f"{path.name}.{older}")
        if aside.is_file():
            lines.extend(aside.read_bytes().splitlines())
    lines.extend(whole.splitlines())
    return [read_line(line) for line in lines], len(whole)


def follow(folder: Path, plugin: str, at: int) -> Generator[LogLine, None, None]:
    """The lines that are added, as they come, without end; goes on in the next file when one is put aside.

    Args:
        folder: Where the files are.
        plugin: The plugin's name.
        at: Where to begin in the current file.
    """
    path = log_file(folder, plugin)
    file = path.open("rb")
    file.seek(at)
    rest = b""
    try:
        while True:
            if data := file.read(65536):
                *lines, rest = (rest + data).split(b"\n")
                yield from map(read_line, lines)
            elif _put_aside(file.fileno(), path):
                file.close()
                file, rest = path.open("rb"), b""
            else:
                time.sleep(LOOK_SECONDS)
    finally:
        file.close()


def read_line(raw: bytes) -> LogLine:
    """A line of the file; one that is damaged is all text."""
    text = raw.decode("utf-8", "replace")
    found = _LINE.fullmatch(text)
    if found is None:
        return LogLine("", "INFO", None, text)
    moment, level, pid, rest = found.groups()
    return LogLine(moment, level, int(pid) if pid != "-" else None, rest)


def _put_aside(descriptor: int, path: Path) -> bool:
    try:
        return not os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False  # the next file is not there yet

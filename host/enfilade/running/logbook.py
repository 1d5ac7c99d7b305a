"""Plugins' log files: a line an event, of bounded size, shared by all hosts of this user."""

import contextlib
import fcntl
import logging
import os
import re
import time
from pathlib import Path

from enfilade.running.places import PRIVATE

FILE_BYTES = 1024 * 1024
"""Size at which a file is put aside."""

OLDER = 2
"""Files put aside that are kept; with the current one this bounds what a plugin may fill."""

_UNREADABLE = re.compile(r"[^a-z0-9._-]+")


def log_file(folder: Path, plugin: str) -> Path:
    """Where a plugin's log is."""
    return folder / f"{_UNREADABLE.sub('-', plugin.lower()).strip('.-') or 'plugin'}.log"


class Logbook:
    """Writes lines. What cannot be written is left out: a full disk must cost no run.

    Args:
        folder: Where the files are.
        file_bytes: Size at which a file is put aside.
    """

    def __init__(self, folder: Path, file_bytes: int = FILE_BYTES) -> None:
        self._folder = folder
        self._file_bytes = file_bytes
        self._open: dict[Path, int] = {}

    def write(self, plugin: str, level: int, pid: int | None, text: str) -> None:
        """Writes a line: time (UTC), level, process, text.

        Args:
            plugin: Whose log it is.
            level: A level of `logging`.
            pid: The process that said it; None for what the host says of the plugin.
            text: What was said; its first line is written.
        """
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
        first = text.partition("\n")[0]
        line = f"{stamp} {logging.getLevelName(level)} {pid or '-'} {first}\n"
        with contextlib.suppress(OSError):
            self._append(log_file(self._folder, plugin), line.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Closes the files."""
        while self._open:
            os.close(self._open.popitem()[1])

    def _append(self, path: Path, line: bytes) -> None:
        descriptor = self._current(path)
        if os.fstat(descriptor).st_size + len(line) > self._file_bytes:
            self._turn(path)
            descriptor = self._current(path)
        os.write(descriptor, line)  # one call, at the end: lines of several hosts do not mix

    def _current(self, path: Path) -> int:
        """The open file, be it that another host has put the last one aside."""
        descriptor = self._open.get(path)
        if descriptor is not None:
            if _same(descriptor, path):
                return descriptor
            os.close(self._open.pop(path))
        self._folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._open[path] = descriptor = os.open(path, flags, 0o600)
        return descriptor

    def _turn(self, path: Path) -> None:
        """Puts a full file aside, unless another host has just done it."""
        descriptor = self._open[path]
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _same(descriptor, path):
            for number in range(OLDER, 0, -1):
                older = path if number == 1 else path.with_name(f"{path.name}.{number - 1}")
                with contextlib.suppress(FileNotFoundError):
                    older.replace(path.with_name(f"{path.name}.{number}"))
        os.close(self._open.pop(path))


def _same(descriptor: int, path: Path) -> bool:
    try:
        there = path.stat()
    except OSError:
        return False
    ours = os.fstat(descriptor)
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)

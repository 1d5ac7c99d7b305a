"""The host's end of its guardian: tells it which process groups to end when the host is gone."""

import asyncio
import contextlib
import os
import subprocess
import sys
from time import monotonic

from enfilade.isolation import guardian
from enfilade.isolation.environment import interpreter_environment

CLOSE_SECONDS = 2.0
"""Seconds that the guardian has to end when the host closes; it has nothing to do then."""


class Watch:
    """Starts the guardian with the first guest, and lets it go when the host closes."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: dict[int, str] = {}

    def add(self, group: int, directory: str, control_group: str = "") -> None:
        """Puts a guest's process group, directory and control group, if it has one, in the guardian's care."""
        directory = f"{directory}\0{control_group}" if control_group else directory
        self._groups[group] = directory
        if self._running:
            self._write(_line("+", group, directory))
        else:  # there is none yet, or somebody has killed it
            self._spawn()

    def remove(self, group: int) -> None:
        """Takes a group that has ended, and of which nothing is left, out of its care."""
        self._groups.pop(group, None)
        self._write(_line("-", group))

    def bury(self, group: int) -> None:
        """Lets it remove the directory of a group that has ended, which takes longer than the host has time."""
        if not self._running:
            self._spawn()
        self._groups.pop(group, None)
        self._write(_line("x", group))

    async def close(self) -> None:
        """Ends the guardian; by then no guest is left."""
        process, self._process = self._process, None
        _let_go(process)
        if process is not None:
            await _ended(process)

    @property
    def _running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _spawn(self) -> None:
        _let_go(self._process)
        self._process = _spawn()
        self._write(b"".join(_line("+", known, place) for known, place in self._groups.items()))

    def _write(self, line: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(line)
                self._process.stdin.flush()


def _let_go(process: "subprocess.Popen[bytes] | None") -> None:
    if process is not None and process.stdin is not None:
        with contextlib.suppress(OSError):  # what was not written any more, to one that was killed
            process.stdin.close()


async def _ended(process: "subprocess.Popen[bytes]") -> None:
    deadline = monotonic() + CLOSE_SECONDS
    while process.poll() is None:
        if monotonic() > deadline:
            process.kill()
            process.wait()
            return
        await asyncio.sleep(0.005)


def _line(sign: str, group: int, directory: str = "") -> bytes:
    return os.fsencode(f"{sign} {group} {directory}\n")


def _spawn() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", guardian.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=interpreter_environment(),
        cwd="/",
    )

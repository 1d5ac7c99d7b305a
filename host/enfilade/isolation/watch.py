"""The host's end of its guardian: tells it which process groups to end when the host is gone."""

import asyncio
import contextlib
import subprocess
import sys

from enfilade.isolation import guardian


class Watch:
    """Starts the guardian with the first guest, and lets it go when the host closes."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, group: int, directory: str) -> None:
        """Puts a guest's process group and directory in the guardian's care."""
        self._write(f"+ {group} {directory}\n")

    def remove(self, group: int) -> None:
        """Takes a group that has ended out of its care."""
        if self._process is not None:
            self._write(f"- {group}\n")

    async def close(self) -> None:
        """Ends the guardian; by then no guest is left."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            await asyncio.to_thread(process.wait)

    def _write(self, line: str) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            process = self._process = _spawn()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(line.encode())
                process.stdin.flush()


def _spawn() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", guardian.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={},
    )

"""A pseudo-terminal in which a command runs, with keys to press and a screen to look at."""

import asyncio
import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

SECONDS = 30.0
CTRL_C = "\x03"
CTRL_D = "\x04"

_TAKEN_BACK = re.compile(r"[^\n]*\r\x1b\[K")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """One terminal and the command in it."""

    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self._process = process
        self._master = master
        self._shown = bytearray()
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        asyncio.get_running_loop().add_reader(master, self._read)

    @property
    def raw(self) -> str:
        """Everything that was sent to the screen."""
        return self._shown.decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """The lines as they stand on the screen: what was taken back is gone, and so are colours."""
        return _ESCAPES.sub("", _TAKEN_BACK.sub("", self.raw)).replace("\r", "")

    def press(self, keys: str) -> None:
        """Types."""
        os.write(self._master, keys.encode())

    async def until(self, text: str, after: int = 0) -> int:
        """Waits for a text behind a place of `text`; gives the place behind it."""
        async with asyncio.timeout(SECONDS), self._changed:
            await self._changed.wait_for(lambda: text in self.text[after:] or self._process.returncode is not None)
        assert text in self.text[after:], self.text
        return self.text.index(text, after) + len(text)

    async def exit_code(self) -> int:
        """Waits for the command's end."""
        async with asyncio.timeout(SECONDS):
            code = await self._process.wait()
        self._read()
        return code

    async def close(self) -> None:
        """Ends the command, if it has not ended."""
        asyncio.get_running_loop().remove_reader(self._master)
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        os.close(self._master)

    def _read(self) -> None:
        with suppress(OSError):  # EIO: the command has closed its end
            if data := os.read(self._master, 65536):
                self._shown += data
                task = asyncio.ensure_future(self._tell())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return
        with suppress(OSError, ValueError):
            asyncio.get_running_loop().remove_reader(self._master)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


@asynccontextmanager
async def terminal(
    command: Sequence[str | bytes],
    environment: Mapping[str, str],
    folder: Path,
    *,
    stdout: int | None = None,
    stderr: int | None = None,
    columns: int = 100,
) -> AsyncIterator[Terminal]:
    """Runs a command in a new terminal that is its controlling one; its streams may be led elsewhere."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=slave,
        stdout=slave if stdout is None else stdout,
        stderr=slave if stderr is None else stderr,
        env={"TERM": "xterm-256color", **environment},
        cwd=folder,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    opened = Terminal(process, master)
    try:
        yield opened
    finally:
        await opened.close()

"""The real `enfilade` command as a child process, with an environment and a folder of its own."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

SECONDS = 30.0
"""How long any wait may take; a machine with much else to do is slow."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    code: int
    out: bytes
    err: str
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def outcome(self) -> dict[str, Any]:
        """The outcome in the last line."""
        last = self.lines[-1]
        assert last["type"] == "outcome"
        outcome: dict[str, Any] = last["outcome"]
        return outcome


class Running:
    """A command that runs; its output is kept as it comes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._out = bytearray()
        self._err = bytearray()
        self._changed = asyncio.Condition()
        self._family: list[psutil.Process] = []
        streams = [(process.stdout, self._out), (process.stderr, self._err)]
        self._readers = [
            asyncio.create_task(self._read(stream, kept)) for stream, kept in streams if stream is not None
        ]

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """Its standard input."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def out(self) -> bytes:
        """Standard output so far."""
        return bytes(self._out)

    @property
    def err(self) -> str:
        """Standard error so far."""
        return self._err.decode()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits until something holds of the output."""
        async with asyncio.timeout(SECONDS), self._changed:
            await self._changed.wait_for(lambda: holds() or self._process.returncode is not None)
        assert holds(), (self.out, self.err)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal, and remembers which processes there are."""
        self._family = self._family or psutil.Process(self._process.pid).children(recursive=True)
        self._process.send_signal(number)

    async def finished(self) -> Finished:
        """Waits for its end."""
        began = asyncio.get_running_loop().time()
        async with asyncio.timeout(SECONDS):
            code = await self._process.wait()
            seconds = asyncio.get_running_loop().time() - began
            await asyncio.gather(*self._readers)
        return Finished(code, self.out, self.err, seconds)

    async def survivors(self, seconds: float = 2.0) -> list[psutil.Process]:
        """Which of the processes there were when a signal was sent outlive the command."""
        _, alive = await asyncio.to_thread(psutil.wait_procs, self._family, timeout=seconds)
        return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]

    async def kill(self) -> None:
        """Ends it the hard way, if it has not ended, and waits for the processes it had."""
        if self._process.returncode is None:
            self.signal(signal.SIGKILL)
            await self._process.wait()
            assert await self.survivors() == []
        await asyncio.gather(*self._readers, return_exceptions=True)

    async def _read(self, stream: asyncio.StreamReader, kept: bytearray) -> None:
        while data := await stream.read(65536):
            async with self._changed:
                kept += data
                self._changed.notify_all()
        async with self._changed:
            self._changed.notify_all()


@dataclass(slots=True)
class Enfilade:
    """Runs `enfilade` in a folder.

    Attributes:
        folder: Its working directory and home.
        runtime: Where the plugins' private directories are made; empty when nothing was left behind.
        environment: Variables over and above the few that are always given.
        program: What is started; the words follow.
    """

    folder: Path
    runtime: Path
    environment: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = (sys.executable, "-m", "enfilade")

    def write(self, name: str, text: str) -> Path:
        """Writes a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def variables(self) -> dict[str, str]:
        """The command's whole environment."""
        kept = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
        own = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "ENFILADE_RUNTIME_DIR": str(self.runtime),
        }
        return kept | own | self.environment

    def command(self, words: Sequence[str | bytes]) -> list[str | bytes]:
        """The command line as the system gets it."""
        return [*self.program, *words]

    @asynccontextmanager
    async def running(self, *words: str | bytes, stdout: int = asyncio.subprocess.PIPE) -> AsyncIterator[Running]:
        """Starts the command; ends it when the block is left."""
        process = await asyncio.create_subprocess_exec(
            *self.command(words),
            stdin=asyncio.subprocess.PIPE,
            stdout=stdout,
            stderr=asyncio.subprocess.PIPE,
            env=self.variables(),
            cwd=self.folder,
        )
        running = Running(process)
        try:
            yield running
        finally:
            await running.kill()

    async def __call__(self, *words: str | bytes, stdin: bytes = b"") -> Finished:
        """Runs the command to its end."""
        async with self.running(*words) as running:
            running.stdin.write(stdin)
            with suppress(ConnectionError):
                await running.stdin.drain()
            running.stdin.close()
            return await running.finished()

    def left_behind(self) -> list[str]:
        """Private directories that are still there."""
        return sorted(path.name for path in self.runtime.iterdir())


@contextmanager
def emptied() -> Iterator[Path]:
    """A folder for plugins' private directories, with a path short enough; none of them may be left in the end."""
    folder = Path(tempfile.mkdtemp(prefix="enf-test-", dir="/tmp"))
    try:
        yield folder
        left = sorted(path.name for path in folder.iterdir())
        assert left == []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def at(base_url: str) -> tuple[str, ...]:
    """The options that ask a model server."""
    return ("-m", "scripted", "--base-url", base_url)

"""Running an installer's command: bounded, watched, gone when the host is gone."""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enfilade.environments import keeper
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.hold import Hold
from enfilade.environments.tail import Tail

OUTPUT_LIMIT = 16 * 1024 * 1024
"""Bytes of standard output that are kept; a resolution's report has some hundred kilobytes."""

FILE_BYTES = 4 * 1024 * 1024 * 1024 - 1
"""Bytes of one file that a command may write; the largest wheels that are published hold less in one file."""

SECONDS = 1800.0
"""Seconds that one command may take, a large download included."""

STOP_SECONDS = 30.0
"""Seconds that a keeper has to end its command before it is given up. Without it nobody would end what the command
started, and on a busy machine it may wait for its turn."""

Listener = Callable[[str], None]
"""Told each line of a command's standard error as it comes."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its return code (a signal's is negative), its standard output, its last lines."""

    code: int
    output: bytes
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run.

    Attributes:
        folder: The working directory.
        hold: A hold on it that every command keeps as long as it or a child of it lives.
        listener: Told what the commands say.
        seconds: Seconds that one command may take.
        file_bytes: Bytes of one file that it may write.
    """

    folder: Path
    hold: Hold
    listener: Listener | None = None
    seconds: float = SECONDS
    file_bytes: int = FILE_BYTES


async def run_command(command: Sequence[str | Path], environment: Mapping[str, str], place: Place) -> Ended:
    """Runs a command to its end. When this is cancelled, the command and all it started are killed.

    Raises:
        InstallError: It took too long, or could not be started at all.
    """
    words = [sys.executable, "-I", "-S", keeper.__file__, str(place.file_bytes), *map(str, command)]
    heard = _Heard(place.listener)
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: heard,
            *words,
            env=dict(environment),
            cwd=place.folder,
            start_new_session=True,
            pass_fds=[place.hold.fileno()],
        )
    except OSError as error:
        raise InstallError(Reason.STORE, f"cannot start a process in {place.folder}: {error.strerror}") from None
    try:
        async with asyncio.timeout(place.seconds):
            await heard.exited.wait()
        with contextlib.suppress(TimeoutError):  # a daemon that left the group may hold the pipes open
            async with asyncio.timeout(1.0):
                await heard.silent.wait()
        return heard.ended(transport.get_returncode() or 0)
    except TimeoutError:
        name = Path(command[0]).name
        raise InstallError(
            Reason.TIMED_OUT, f"{name} did not end within {place.seconds:g} s and was stopped; try again"
        ) from None
    finally:
        await _stop(transport, heard)


class _Heard(asyncio.SubprocessProtocol):
    """Takes what a command says, bounded, and notes when it has ended and when its pipes have."""

    def __init__(self, listener: Listener | None) -> None:
        self.exited = asyncio.Event()
        self.silent = asyncio.Event()
        self.fault: Exception | None = None
        self._output = bytearray()
        self._lines = {1: Tail(), 2: Tail(listener)}
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._output.extend(data[: max(0, OUTPUT_LIMIT - len(self._output))])
        try:
            self._lines[fd].feed(data)
        except Exception as error:  # noqa: BLE001 - the listener's; it is raised where the command is awaited
            self.fault = self.fault or error

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def process_exited(self) -> None:
        self.exited.set()

    def ended(self, code: int) -> Ended:
        """What there is to say, once it has ended. Raises what the listener raised."""
        if self.fault is not None:
            raise self.fault
        for tail in self._lines.values():
            tail.close()
        return Ended(code, bytes(self._output), self._lines[2].lines or self._lines[1].lines)


async def _stop(transport: asyncio.SubprocessTransport, heard: _Heard) -> None:
    """Closes the keeper's life line, which ends the command, waits for the keeper, and lets go of all pipes."""
    line = transport.get_pipe_transport(0)
    if line is not None:
        line.close()
    try:
        with contextlib.suppress(TimeoutError):  # a command that even SIGKILL does not end: it hangs in the kernel
            async with asyncio.timeout(STOP_SECONDS):
                await heard.exited.wait()
        if not heard.exited.is_set():
            transport.kill()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await heard.exited.wait()
    finally:
        if heard.exited.is_set():
            transport.close()

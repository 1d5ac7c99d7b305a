"""Running an installer's command: bounded, watched, gone when the host is gone."""

import asyncio
import contextlib
import os
import signal
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
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            cwd=place.folder,
            start_new_session=True,
            pass_fds=[place.hold.fileno()],
        )
    except OSError as error:
        raise InstallError(Reason.STORE, f"cannot start a process in {place.folder}: {error.strerror}") from None
    try:
        async with asyncio.timeout(place.seconds):
            return await _ended(process, place.listener)
    except TimeoutError:
        name = Path(command[0]).name
        raise InstallError(
            Reason.TIMED_OUT, f"{name} did not end within {place.seconds:g} s and was stopped; try again"
        ) from None
    finally:
        await _stop(process)


async def _ended(process: asyncio.subprocess.Process, listener: Listener | None) -> Ended:
    output, errors, text = bytearray(), Tail(listener), Tail()

    def keep(data: bytes) -> None:
        output.extend(data[: max(0, OUTPUT_LIMIT - len(output))])
        text.feed(data)

    drains = [
        asyncio.ensure_future(_drain(process.stdout, keep)),
        asyncio.ensure_future(_drain(process.stderr, errors.feed)),
    ]
    try:
        code = await process.wait()
        await asyncio.wait(drains, timeout=1.0)  # a daemon that left the group may hold the pipes open
    finally:
        for drain in drains:
            drain.cancel()
        await asyncio.gather(*drains, return_exceptions=True)
    errors.close()
    text.close()
    return Ended(code, bytes(output), errors.lines or text.lines)


async def _drain(stream: asyncio.StreamReader | None, take: Callable[[bytes], None]) -> None:
    while stream is not None and (data := await stream.read(65536)):
        take(data)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Closes the keeper's life line, which ends the command, and reaps the keeper."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(5.0):
            await process.wait()
    except TimeoutError:  # a command that even SIGKILL does not end: it hangs in the kernel
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    finally:
        transport = getattr(process, "_transport", None)
        if transport is not None:  # lets go of pipes that a stranger still holds
            transport.close()

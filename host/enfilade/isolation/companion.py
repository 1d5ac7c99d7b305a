"""Companions: programs beside the host that are spoken with through their pipes, such as MCP servers.

A companion is the operator's own choice and no guest: it runs in the operator's folder with the operator's rights. But
like a guest it gets no variable that it was not given, all it prints is bounded, and it ends with the host.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from typing import cast

from enfilade.isolation.directory import make_directory, remove_directory
from enfilade.isolation.environment import ALLOWED
from enfilade.isolation.exit_code import in_words
from enfilade.isolation.guardian import MARK, end_strays
from enfilade.isolation.output import OutputTail
from enfilade.isolation.pipes import STDERR, STDIN, STDOUT
from enfilade.isolation.process import DRAIN_SECONDS, StopTimes
from enfilade.isolation.watch import Watch
from enfilade.tools.mcp.process import ProcessSpec

INHERITED = (*ALLOWED, "PATH", "HOME", "USER", "LOGNAME", "SHELL")
"""Variables taken over from the host: what a program needs to be found and to find its caches; none is a secret."""

STOP_TIMES = StopTimes(shutdown=0, stdin=1.0, terminate=1.0)
"""Closed stdin asks a companion to end; the MCP specification has the same steps."""

SHOWN_LINES = 8
"""Lines of what it printed last that stand in an error."""

_SHORTEST_SECRET = 4


class Companions:
    """Starts companions, all in the care of one guardian."""

    def __init__(self) -> None:
        self._watch = Watch()

    async def start(self, spec: ProcessSpec, take: Callable[[bytes], float], ended: Callable[[], None]) -> "Companion":
        """Starts one.

        Args:
            spec: What to start.
            take: Called with what it prints on stdout; gives the seconds for which stdout is to be left unread.
            ended: Called once when it has ended, or has closed its stdout: it says nothing any more.

        Raises:
            LaunchError: There is no place for its private directory.
            OSError: There is no such program or folder, or it may not be started.
            ValueError: An argument or variable holds a NUL character.
        """
        directory = make_directory()
        companion = Companion(spec, directory, self._watch, take, ended)
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: companion,
                *spec.command,
                env=companion_environment(directory, spec.environment),
                cwd=spec.folder,
                start_new_session=True,
            )
        except BaseException:
            remove_directory(directory)
            raise
        self._watch.add(companion.pid, directory)
        return companion

    async def close(self) -> None:
        """Lets the guardian go, after the companions were stopped."""
        await self._watch.close()


class Companion(asyncio.SubprocessProtocol):
    """One started program. Whoever has it must `stop` it."""

    def __init__(
        self,
        spec: ProcessSpec,
        directory: str,
        watch: Watch,
        take: Callable[[bytes], float],
        ended: Callable[[], None],
    ) -> None:
        self._directory = directory
        self._watch = watch
        self._take = take
        self._ended = ended
        self._output = _MaskedTail(spec.log_name, [secret.encode() for secret in spec.secrets])
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._open = {STDOUT, STDERR}
        self._last_wait: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """Its process id, which is that of its group too."""
        return self._running.get_pid()

    def write(self, data: bytes) -> None:
        """Writes to its stdin; one that has closed it is not told."""
        stdin = cast(asyncio.WriteTransport | None, self._running.get_pipe_transport(STDIN))
        if stdin is not None and not stdin.is_closing():
            stdin.write(data)

    @property
    def congested(self) -> bool:
        """Whether much of what was written to it is unread."""
        return not self._writable.is_set()

    async def writable(self) -> None:
        """Waits until it has read most of what was written; for ever, if it reads nothing."""
        await self._writable.wait()

    def note(self, line: bytes) -> None:
        """Keeps a line for the log and the error of its end."""
        self._output.feed(STDOUT, line + b"\n")

    def last_words(self) -> str:
        """How it ended and what it printed last."""
        lines = self._output.lines[-SHOWN_LINES:]
        said = "; its last lines:\n  " + "\n  ".join(lines) if lines else "; it printed nothing"
        return f"{in_words(self._running.get_returncode())}{said}"

    async def stop(self) -> None:
        """Ends it with everything it has started, step by step, and reaps it."""
        try:
            self._close_stdin()
            if not await self._exited_within(STOP_TIMES.stdin):
                self._signal(signal.SIGTERM)
                await self._exited_within(STOP_TIMES.terminate)
        finally:
            self._signal(signal.SIGKILL)
            await self._exited.wait()
            end_strays([self._directory])
            self._running.close()  # should a stray hold the pipes all the same: let go of our ends
            self._watch.remove(self.pid)
            remove_directory(self._directory)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called when it was started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called with what it printed."""
        pause = self._take(data) if fd == STDOUT else self._output.feed(fd, data)
        if pause > 0:
            self._pause(fd, pause)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Called when a pipe has ended."""
        self._output.end(fd)
        self._open.discard(fd)
        self._note_end()

    def process_exited(self) -> None:
        """Called when it has ended, before its last output was read."""
        self._exited.set()
        self._writable.set()
        self._note_end()

    def pause_writing(self) -> None:
        """Called when much of what was written is unread."""
        if not self._exited.is_set():
            self._writable.clear()

    def resume_writing(self) -> None:
        """Called when it was read."""
        self._writable.set()

    @property
    def _running(self) -> asyncio.SubprocessTransport:
        assert self._transport is not None
        return self._transport

    def _note_end(self) -> None:
        """Tells of the end: at once where all is read, else when the last output had its time to come."""
        if self._exited.is_set() and not self._open:
            self._tell_end()
        elif self._last_wait is None and (self._exited.is_set() or STDOUT not in self._open):
            self._last_wait = asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._tell_end)

    def _tell_end(self) -> None:
        if self._last_wait is not None:
            self._last_wait.cancel()
        ended, self._ended = self._ended, _told
        ended()

    async def _exited_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self._exited.is_set()

    def _close_stdin(self) -> None:
        if (stdin := self._running.get_pipe_transport(STDIN)) is not None:
            stdin.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _pause(self, fd: int, seconds: float) -> None:
        pipe = cast(asyncio.ReadTransport | None, self._running.get_pipe_transport(fd))
        if pipe is not None and not pipe.is_closing():
            pipe.pause_reading()
            asyncio.get_running_loop().call_later(seconds, _resume, pipe)


class _MaskedTail(OutputTail):
    """What a companion prints, without the secrets it was given."""

    def __init__(self, plugin: str, secrets: list[bytes]) -> None:
        super().__init__(plugin)
        self._secrets = sorted((s for s in secrets if len(s) >= _SHORTEST_SECRET), key=len, reverse=True)

    def _keep(self, raw: bytes) -> None:
        for secret in self._secrets:
            raw = raw.replace(secret, b"***")
        super()._keep(raw)


def companion_environment(directory: str, given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a companion.

    Args:
        directory: Its private directory, for its temporary files; by its name what it has started is known.
        given: Variables that the operator set for it; they win.
    """
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | {"TMPDIR": directory} | dict(given) | {MARK: directory}


def _resume(pipe: asyncio.ReadTransport) -> None:
    if not pipe.is_closing():
        pipe.resume_reading()


def _told() -> None:
    """The end was told of before."""

"""A guest's process: started, read until its handshake, drained, stopped step by step, reaped."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from enfilade.errors import LaunchError
from enfilade.isolation.directory import make_directory, remove_directory
from enfilade.isolation.environment import guest_environment
from enfilade.isolation.exit_code import in_words
from enfilade.isolation.handshake import HANDSHAKE_LIMIT, Handshake, read_handshake
from enfilade.isolation.output import OutputTail
from enfilade.isolation.watch import Watch
from enfilade_sdk.serving.handshake import COOKIE_KEY, COOKIE_VALUE

PROTOCOLS = (1,)
"""Application protocol versions that this host speaks."""

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""gRPC's limit for one frame, both ways."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What to start.

    Attributes:
        plugin: The plugin's name, for logs and errors.
        command: The program and its arguments.
        speaks_launch_line: Whether it reads our line on stdin (SDK plugins do, others need not).
        environment: Variables the operator set for it.
        start_timeout: Seconds until its handshake line must have come.
    """

    plugin: str
    command: tuple[str, ...]
    speaks_launch_line: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class StopTimes:
    """Seconds that each step of stopping may take: after the shutdown call, after stdin closed, after SIGTERM."""

    shutdown: float = 1.0
    stdin: float = 0.5
    terminate: float = 2.0


class GuestProcess:
    """One started process. Make it with `launch`; whoever has it must `stop` it."""

    def __init__(self, spec: LaunchSpec, process: asyncio.subprocess.Process, directory: str, token: str) -> None:
        self.spec = spec
        self.token = token
        self.output = OutputTail(spec.plugin)
        self.handshake = Handshake(0, "")
        self._process = process
        self._directory = directory
        self._drains: list[asyncio.Task[None]] = []

    @property
    def pid(self) -> int:
        """Its process id, which is its group's too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Waits until it has ended and its output is read; gives its return code."""
        code = await self._process.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):  # a grandchild may hold the pipe open
                await asyncio.gather(*self._drains, return_exceptions=True)
        return code

    def last_words(self) -> str:
        """How it ended and what it printed last."""
        return f"{in_words(self.exit_code)}{self.output.text()}"

    async def greet(self) -> None:
        """Writes the launch line, waits for the handshake, then drains for ever.

        Raises:
            LaunchError: Silence, garbage, another version, an early exit, or no socket.
        """
        stdout, stderr = self._process.stdout, self._process.stderr
        if stdout is None or stderr is None:
            raise LaunchError(f"plugin {self.spec.plugin!r} was started without pipes")
        self._drains.append(asyncio.ensure_future(self.output.drain(stderr)))
        await self._write_launch_line()
        try:
            async with asyncio.timeout(self.spec.start_timeout):
                line = await _first_line(stdout)
        except TimeoutError:
            raise LaunchError(
                f"plugin {self.spec.plugin!r} did not start: no handshake line within {self.spec.start_timeout:g} s"
                f"{self.output.text()}"
            ) from None
        if not line.endswith(b"\n") and len(line) < HANDSHAKE_LIMIT:
            await self.wait()
            said = f" after {line[:120].decode('utf-8', 'replace')!r} on stdout" if line else ""
            raise LaunchError(f"plugin {self.spec.plugin!r} ended before its handshake{said}: {self.last_words()}")
        self._drains.append(asyncio.ensure_future(self.output.drain(stdout)))
        try:
            self.handshake = read_handshake(line, PROTOCOLS, self._directory)
        except LaunchError as error:
            raise LaunchError(
                f"plugin {self.spec.plugin!r} did not start: {error.message}{self.output.text()}"
            ) from None

    async def _write_launch_line(self) -> None:
        stdin = self._process.stdin
        if stdin is None or not self.spec.speaks_launch_line:
            return
        line = {"token": self.token, "parent": os.getpid(), "max_message_bytes": MAX_MESSAGE_BYTES}
        with contextlib.suppress(ConnectionError):  # it has ended already, which the handshake reports
            stdin.write(json.dumps(line).encode() + b"\n")
            await stdin.drain()

    async def stop(self, watch: Watch, times: StopTimes, *, asked: bool = True) -> None:
        """Ends it with its whole group, step by step, reaps it and removes its directory.

        Args:
            watch: The guardian's care it was put in.
            times: How long each step may take.
            asked: Whether it was asked to shut down already.
        """
        try:
            if asked and await self._ended_within(times.shutdown):
                return
            if self._process.stdin is not None:
                self._process.stdin.close()
            if await self._ended_within(times.stdin):
                return
            self._signal(signal.SIGTERM)
            await self._ended_within(times.terminate)
        finally:
            self._signal(signal.SIGKILL)
            await self._process.wait()
            await self._end_drains()
            watch.remove(self.pid)
            remove_directory(self._directory)

    async def _ended_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def _end_drains(self) -> None:
        if self._drains:
            await asyncio.wait(self._drains, timeout=0.2)
        for task in self._drains:
            task.cancel()
        await asyncio.gather(*self._drains, return_exceptions=True)
        transport = getattr(self._process, "_transport", None)
        if transport is not None:  # a grandchild outside the group may hold the pipes; let go of our ends
            transport.close()


async def launch(spec: LaunchSpec, watch: Watch, times: StopTimes) -> GuestProcess:
    """Starts a plugin and waits for its handshake.

    Raises:
        LaunchError: It did not come to life; nothing of it is left.
    """
    directory = make_directory()
    token = secrets.token_hex(32)
    try:
        process = await _spawn(spec, directory)
    except OSError as error:
        remove_directory(directory)
        raise LaunchError(f"plugin {spec.plugin!r} could not be started: {spec.command[0]}: {error.strerror}") from None
    guest = GuestProcess(spec, process, directory, token if spec.speaks_launch_line else "")
    watch.add(process.pid, directory)
    try:
        await guest.greet()
    except BaseException:
        await guest.stop(watch, StopTimes(0, 0, min(times.terminate, 0.2)), asked=False)
        raise
    return guest


async def _spawn(spec: LaunchSpec, directory: str) -> asyncio.subprocess.Process:
    environment = guest_environment(directory, spec.environment) | {
        COOKIE_KEY: COOKIE_VALUE,
        "PLUGIN_PROTOCOL_VERSIONS": ",".join(map(str, PROTOCOLS)),
        "PLUGIN_UNIX_SOCKET_DIR": directory,
    }
    if spec.speaks_launch_line:
        environment["ENFILADE_LAUNCH"] = "stdin"
    return await asyncio.create_subprocess_exec(
        *spec.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=directory,
        start_new_session=True,
        limit=HANDSHAKE_LIMIT,
    )


async def _first_line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError:
        return await stream.read(HANDSHAKE_LIMIT)


def sdk_command(python: str, offers: Sequence[str], paths: Sequence[str] = ()) -> tuple[str, ...]:
    """The command that serves strategies with the SDK in an interpreter: isolated from its user's settings."""
    extra = [word for path in paths for word in ("--path", path)]
    return (python, "-I", "-m", "enfilade_sdk.serving", *extra, *offers)

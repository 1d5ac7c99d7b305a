"""A guest's process: started, read until its handshake, drained, stopped step by step, reaped."""

import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
from dataclasses import dataclass

from enfilade.errors import LaunchError
from enfilade.isolation.bytecode import compile_missing
from enfilade.isolation.directory import make_directory, remove_directory
from enfilade.isolation.environment import GUEST_PATH, guest_environment
from enfilade.isolation.exit_code import in_words
from enfilade.isolation.guardian import end_strays
from enfilade.isolation.handshake import HANDSHAKE_LIMIT, Handshake, read_handshake
from enfilade.isolation.launch_spec import LaunchSpec
from enfilade.isolation.output import OutputTail
from enfilade.isolation.pipes import GuestPipes
from enfilade.isolation.sandbox.bubblewrap import exit_code
from enfilade.isolation.sandbox.control_group import ControlGroup
from enfilade.isolation.sandbox.plan import Confined, Plan, Wanted, plan
from enfilade.isolation.watch import Watch
from enfilade_sdk.serving import doorway
from enfilade_sdk.serving.handshake import COOKIE_KEY, COOKIE_VALUE, MAX_MESSAGE_BYTES

_log = logging.getLogger(__name__)

PROTOCOLS = (1,)
"""Application protocol versions that this host speaks."""

DRAIN_SECONDS = 0.2
"""Seconds for the last output of an ended process; a grandchild may hold its pipes for ever."""


REMOVAL_SECONDS = 0.02
"""Seconds that the host has for removing a directory; the guardian goes on with one that holds far too much."""


@dataclass(frozen=True, slots=True)
class StopTimes:
    """Seconds that each step of stopping may take: from the shutdown call on, after stdin closed, after SIGTERM.

    All together they are below two seconds, in which everything stops when somebody presses Ctrl-C.
    """

    shutdown: float = 1.0
    stdin: float = 0.25
    terminate: float = 0.5


AT_ONCE = StopTimes(0, 0, 0)
"""For a process that was given up."""


class GuestProcess:
    """One started process. Make it with `launch`; whoever has it must `stop` it."""

    def __init__(
        self,
        spec: LaunchSpec,
        transport: asyncio.SubprocessTransport,
        pipes: GuestPipes,
        place: str,
        planned: Plan,
    ) -> None:
        self.spec = spec
        self.confined = planned.confined
        self._namespaces = planned.namespaces
        self._group = planned.group
        self.token = new_token() if spec.speaks_launch_line else ""
        self.output = pipes.output
        self._handshake: Handshake | None = None
        self.pid = self.output.pid = transport.get_pid()
        if spec.journal is not None:
            spec.journal.hide([self.token])
        self._transport = transport
        self._pipes = pipes
        self._directory = place

    @property
    def handshake(self) -> Handshake:
        """What it said of itself, once it was greeted."""
        assert self._handshake is not None, "it was not greeted"
        return self._handshake

    def let_go(self) -> None:
        """Gives its socket up, to which nobody may connect any more."""
        if self._handshake is not None:
            self._handshake.socket.close()

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        code = self._transport.get_returncode()
        return exit_code(code) if self._namespaces else code

    @property
    def ended(self) -> bool:
        """Whether it has ended, even if nobody was told yet."""
        if self.exit_code is not None or self._pipes.exited.is_set():
            return True
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        except ChildProcessError:  # it was reaped a moment ago
            return True

    async def wait(self) -> None:
        """Waits until it has ended and its last output is read."""
        await self._pipes.exited.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._pipes.drained.wait()

    def last_words(self) -> str:
        """How it ended and what it printed last."""
        said = self.output.text()
        killed = self._group.in_words() if self._group is not None and self._group.killed else ""
        return f"{in_words(self.exit_code, killed)}{said}{self.confined.hint(said, self.spec.plugin)}"

    async def greet(self) -> None:
        """Writes the launch line and waits for the handshake.

        Raises:
            LaunchError: Silence, garbage, another version, an early exit, or no socket.
        """
        self._write_launch_line()
        try:
            async with asyncio.timeout(self.spec.start_timeout):
                line = await self._pipes.first_line()
                if not line.endswith(b"\n") and len(line) < HANDSHAKE_LIMIT:
                    await self.wait()
                    raise self._failure(f"ended before its handshake{_said(line)}: {self.last_words()}")
        except TimeoutError:
            seconds = f"{self.spec.start_timeout:g} s"
            raise self._failure(f"did not start: no handshake line within {seconds}{self.output.text()}") from None
        try:
            self._handshake = read_handshake(line, PROTOCOLS, self._directory, self.spec.transports)
        except LaunchError as error:
            raise self._failure(f"did not start: {error.message}{self.output.text()}") from None

    def _failure(self, what: str) -> LaunchError:
        return LaunchError(f"plugin {self.spec.plugin!r} {what}")

    def _write_launch_line(self) -> None:
        if self.spec.speaks_launch_line:
            line = {
                "token": self.token,
                "parent": 0 if self._namespaces else os.getpid(),  # in another namespace this is another's number
                "max_message_bytes": MAX_MESSAGE_BYTES,
                "transports": self.spec.transports,
                "sandbox": self.confined.profile,
            }
            self._pipes.write(json.dumps(line).encode() + b"\n")

    async def stop(self, watch: Watch, times: StopTimes, *, asked: bool = True) -> None:
        """Ends it with its whole group and what left that, step by step, reaps it and removes its directory.

        Args:
            watch: The guardian's care it was put in.
            times: How long each step may take.
            asked: Whether it was asked to shut down already.
        """
        try:
            if asked and await self._ended_within(times.shutdown):
                return
            self._pipes.close_stdin()
            if await self._ended_within(times.stdin):
                return
            self._signal(signal.SIGTERM)
            await self._ended_within(times.terminate)
        finally:
            self._signal(signal.SIGKILL)
            await self._pipes.exited.wait()
            if strays := end_strays([self._directory]):
                _log.warning("plugin %r left %d processes behind; they were stopped", self.spec.plugin, strays)
            await self.wait()
            self._transport.close()  # should a stray hold the pipes all the same: let go of our ends
            if self._group is not None:
                await self._leave(self._group)
            if remove_directory(self._directory, REMOVAL_SECONDS):
                watch.remove(self.pid)
            else:
                watch.bury(self.pid)

    async def _leave(self, group: ControlGroup) -> None:
        """Removes its control group; says so where the kernel ended something of it that it has outlived."""
        if group.killed and self.exit_code != -signal.SIGKILL:
            _log.warning("a process of plugin %r was %s", self.spec.plugin, group.in_words())
        await asyncio.to_thread(group.remove)

    async def _ended_within(self, seconds: float) -> bool:
        if seconds > 0 and not self._pipes.exited.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._pipes.exited.wait()
        return self._pipes.exited.is_set()

    def _signal(self, number: signal.Signals) -> None:
        """Signals the whole group, which may outlive the process that leads it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


async def launch(spec: LaunchSpec, watch: Watch) -> GuestProcess:
    """Starts a plugin and waits for its handshake.

    Raises:
        LaunchError: It did not come to life; nothing of it is left.
        SandboxError: A layer that its sandbox requires is missing; nothing was started.
        EnfiladeError: Its check refused it; nothing was started.
    """
    if spec.check is not None:
        await asyncio.to_thread(spec.check)
    directory = make_directory()
    group: ControlGroup | None = None
    try:
        planned = await asyncio.to_thread(plan, _wanted(spec), directory)
        if planned.group is not None:
            planned.group.make()
            group = planned.group
        guest = await _spawn(spec, directory, planned)
    except (OSError, ValueError) as error:
        _undo(directory, group)
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise LaunchError(f"plugin {spec.plugin!r} could not be started: {spec.command[0]}: {reason}") from None
    except BaseException:
        _undo(directory, group)
        raise
    watch.add(guest.pid, directory, group.path if group is not None else "")
    _record(spec.plugin, guest.confined)
    try:
        await guest.greet()
    except BaseException:
        await guest.stop(watch, AT_ONCE, asked=False)
        raise
    if spec.modules:
        compiling = asyncio.get_running_loop().run_in_executor(None, compile_missing, spec.modules)
        compiling.add_done_callback(asyncio.Future.exception)  # it is the next start's gain; this one is under way
    return guest


def _undo(directory: str, group: ControlGroup | None) -> None:
    """Removes what a launch that came to nothing has made."""
    if group is not None:
        group.remove()
    remove_directory(directory)


def _wanted(spec: LaunchSpec) -> Wanted:
    doors = doorway.__file__ in spec.command
    at = spec.command.index(doorway.__file__) if spec.speaks_launch_line and doors else 0
    return Wanted(
        spec.plugin, spec.sandboxing, spec.command, at, spec.readable, spec.environment.get("PATH", GUEST_PATH)
    )


def _record(plugin: str, confined: Confined) -> None:
    level = logging.WARNING if confined.lacking else logging.INFO
    _log.log(level, "plugin %r is confined by %s", plugin, confined)


async def _spawn(spec: LaunchSpec, directory: str, planned: Plan) -> GuestProcess:
    environment = {
        **guest_environment(directory, spec.environment),
        **planned.variables,
        COOKIE_KEY: COOKIE_VALUE,
        "PLUGIN_PROTOCOL_VERSIONS": ",".join(map(str, PROTOCOLS)),
        "PLUGIN_UNIX_SOCKET_DIR": directory,
    }
    if spec.speaks_launch_line:
        environment["ENFILADE_LAUNCH"] = "stdin"
    transport, pipes = await asyncio.get_running_loop().subprocess_exec(
        lambda: GuestPipes(OutputTail(spec.plugin, journal=spec.journal), HANDSHAKE_LIMIT),
        *planned.command,
        env=environment,
        cwd=directory,
        start_new_session=True,
    )
    return GuestProcess(spec, transport, pipes, directory, planned)


def new_token() -> str:
    """256 random bits, which only this host and the plugin it launches know."""
    return secrets.token_hex(32)


def _said(line: bytes) -> str:
    return f" after {line[:120].decode('utf-8', 'replace')!r} on stdout" if line else ""

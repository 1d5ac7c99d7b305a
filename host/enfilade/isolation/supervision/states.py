"""What a plugin's processes are doing: states, their changes, and a picture of all of them at one moment."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from enfilade.isolation.journal import Sink


class State(StrEnum):
    """Where a plugin, or one of its processes, stands."""

    INSTALLED = "installed"
    VERIFIED = "verified"
    STARTING = "starting"
    READY = "ready"
    UNRESPONSIVE = "unresponsive"
    UNREACHABLE = "unreachable"
    DRAINING = "draining"
    STOPPED = "stopped"
    CRASHED = "crashed"
    BACKING_OFF = "backing_off"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class StateChange:
    """One change of state.

    Attributes:
        plugin: Whose.
        version: Its version; empty when unknown.
        before: The state before.
        state: The state now.
        pid: The process; None when it is the plugin's own state, or the process did not come to life.
        reason: Why, in words; may be empty.
        at: When, in seconds of the wall clock.
    """

    plugin: str
    version: str
    before: State
    state: State
    pid: int | None = None
    reason: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """One process at one moment; times are seconds of the wall clock."""

    pid: int
    state: State
    runs: int
    served: int
    started: float
    since: float


@dataclass(frozen=True, slots=True)
class PluginStatus:
    """A plugin at one moment.

    Attributes:
        plugin: Its name.
        version: Its version; empty when unknown.
        state: Its own state: that of the best of its processes, where it has any.
        since: When it came about, in seconds of the wall clock.
        reason: Why, in words; may be empty.
        waiting: Runs that wait for a place.
        crashes: Crashes that still count.
        last_crash: How the last one came about, with the last lines; empty when there was none.
        retry_at: When it may be started, or is connected to, again, in seconds of the wall clock; None for now.
        processes: Its processes.
        address: Where it is when this host did not start it; empty otherwise.
        runs: Runs on it.
    """

    plugin: str
    version: str
    state: State
    since: float
    reason: str = ""
    waiting: int = 0
    crashes: int = 0
    last_crash: str = ""
    retry_at: float | None = None
    processes: tuple[ProcessStatus, ...] = field(default=())
    address: str = ""
    runs: int = 0


Listener = Callable[[StateChange], None]
"""Hears of each change, on the host's loop; must not block or raise."""


@runtime_checkable
class Supervised(Protocol):
    """What looks after the processes of a plugin."""

    def status(self) -> PluginStatus:
        """How it stands."""
        ...

    def report_to(self, listener: Listener) -> None:
        """Tells somebody of each change from now on."""
        ...

    def log_to(self, sink: Sink) -> None:
        """Passes what the processes print on from now on, without secrets."""
        ...

    def leave(self) -> None:
        """Says that another one has taken its place: what runs on it may end, and then it is stopped."""
        ...


def supervised(runner: object) -> Supervised | None:
    """What looks after a runner's processes, be it wrapped; None when nothing does."""
    while (wrapped := getattr(runner, "wrapped", None)) is not None:
        runner = wrapped
    return runner if isinstance(runner, Supervised) else None

"""The crashes of one plugin: how they are shown, and which runs they keep from beginning."""

from enfilade.isolation.supervision.backoff import Backoff
from enfilade.isolation.supervision.refusal import given_up, too_late
from enfilade.isolation.supervision.register import Register
from enfilade.isolation.supervision.states import State
from enfilade.isolation.supervision.worker import Worker
from enfilade_sdk.errors import EnfiladeError


class Crashes:
    """Takes crashes down and says what follows on them.

    Args:
        plugin: The plugin's name.
        backoff: When it may be started again.
        register: Where its states are taken down.
    """

    def __init__(self, plugin: str, backoff: Backoff, register: Register) -> None:
        self.backoff = backoff
        self._plugin = plugin
        self._register = register

    @property
    def too_many(self) -> bool:
        """Whether it is not started any more, until somebody asks for it."""
        return self.backoff.given_up

    @property
    def left(self) -> float:
        """Seconds until it may be started again; 0 when it may be now."""
        return self.backoff.left

    def add(self, how: str, uptime: float = 0.0, worker: Worker | None = None) -> None:
        """Takes a crash down.

        Args:
            how: How it came about, with the last lines.
            uptime: How long the process had been ready.
            worker: The process; None for one that did not come to life.
        """
        self._register.last_crash = how
        self.backoff.crashed(uptime)
        if worker is None:
            self._register.plugin(State.CRASHED, how)
        else:
            self._register.moved(worker, State.CRASHED, how)
        if self.too_many:
            self._register.plugin(State.DISABLED, f"it crashed {self.backoff.crashes} times within five minutes")
        elif self.left > 0:
            self._register.plugin(State.BACKING_OFF, f"it is not started again before {self.left:.1f} s")

    def refusal(self) -> EnfiladeError:
        """The error of runs when there are too many crashes."""
        return given_up(self._plugin, self.backoff.crashes, self._register.last_crash)

    def check(self) -> None:
        """Refuses a run when there are too many.

        Raises:
            LaunchError: There are.
        """
        if self.too_many:
            raise self.refusal()

    def check_in_time(self, seconds: float | None) -> None:
        """Refuses a run whose time is up before the plugin may be started again.

        Args:
            seconds: What the run has; None for all the time.

        Raises:
            LaunchError: It is.
        """
        if seconds is not None and self.left >= seconds:
            raise too_late(self._plugin, self.left, seconds, self._register.last_crash)

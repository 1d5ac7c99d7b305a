"""Takes down the states of one plugin and its processes, and tells those who listen."""

import logging
import time
from collections.abc import Sequence

from enfilade.isolation.supervision.backoff import Backoff
from enfilade.isolation.supervision.states import Listener, PluginStatus, State, StateChange
from enfilade.isolation.supervision.worker import Worker

_log = logging.getLogger(__name__)

_LIVING = (State.READY, State.UNRESPONSIVE, State.DRAINING)
"""States of processes, the best first: a plugin stands where the best of its processes stands."""

_LOUD = {
    State.UNRESPONSIVE: logging.WARNING,
    State.UNREACHABLE: logging.WARNING,
    State.CRASHED: logging.ERROR,
    State.DISABLED: logging.ERROR,
}


class Register:
    """The states of one plugin.

    Args:
        plugin: Its name.
        version: Its version; empty when unknown.

    Attributes:
        listeners: Who hears of changes.
        last_crash: How the last crash came about; empty when there was none.
    """

    def __init__(self, plugin: str, version: str) -> None:
        self.listeners: list[Listener] = []
        self._plugin = plugin
        self._version = version
        self._state = State.INSTALLED
        self._since = time.time()
        self._reason = ""
        self.last_crash = ""

    @property
    def state(self) -> State:
        """Where the plugin as a whole, or the process that changed last, stands."""
        return self._state

    def plugin(self, state: State, reason: str = "") -> None:
        """The plugin as a whole changed its state."""
        before = self._note(state, reason)
        if before is not state:
            self._tell(StateChange(self._plugin, self._version, before, state, None, reason, self._since))

    def moved(self, worker: Worker, state: State, reason: str = "") -> None:
        """A process changed its state."""
        before = worker.become(state)
        self._note(state, reason)
        if before is not state:
            self._tell(StateChange(self._plugin, self._version, before, state, worker.pid, reason, self._since))

    def status(self, workers: Sequence[Worker], waiting: int, backoff: Backoff) -> PluginStatus:
        """The plugin at this moment."""
        processes = tuple(worker.status() for worker in workers)
        state, since, reason = self._state, self._since, self._reason
        best = min((p for p in processes if p.state in _LIVING), key=lambda p: _LIVING.index(p.state), default=None)
        if best is not None and state is not State.DISABLED and best.state is not state:
            state, since, reason = best.state, best.since, ""
        return PluginStatus(
            plugin=self._plugin,
            version=self._version,
            state=state,
            since=since,
            reason=reason,
            waiting=waiting,
            crashes=backoff.crashes,
            last_crash=self.last_crash,
            retry_at=time.time() + backoff.left if backoff.left > 0 else None,
            processes=processes,
            runs=sum(process.runs for process in processes),
        )

    def _note(self, state: State, reason: str) -> State:
        before, self._state, self._reason = self._state, state, reason
        if before is not state:
            self._since = time.time()
        return before

    def _tell(self, change: StateChange) -> None:
        who = f"plugin {change.plugin!r}" + (f" (process {change.pid})" if change.pid else "")
        reason = f": {change.reason}" if change.reason else ""
        _log.log(_level(change), "%s is %s%s", who, change.state.value, reason)
        for listener in self.listeners:
            listener(change)


def _level(change: StateChange) -> int:
    if change.state is State.UNREACHABLE and change.before not in _LIVING:
        return logging.INFO  # who asked for it is told
    return _LOUD.get(change.state, logging.INFO)

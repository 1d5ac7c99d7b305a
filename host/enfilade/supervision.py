"""How a plugin's processes are looked after, as the operator chose."""

from dataclasses import dataclass
from typing import Literal

Scope = Literal["plugin", "run"]

RUN_WORKERS = 8
"""Runs at once, each with a process of its own, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Supervision:
    """What a host does for the processes of one plugin.

    Attributes:
        scope: `plugin`: a process serves one run after another, and many at once. `run`: each run has a process of its
            own, in which no other ran before.
        workers: The most processes that runs may have at once. One more is started when a run comes and all are busy.
        max_runs: The most runs at once on one process (1 where `scope` is `run`).
        queue: The most runs that wait for a place; one more is refused as busy.
        reserve: Processes that are kept ready beyond those in use, where `scope` is `run`.
        idle_stop: Seconds without a run after which a process is stopped; 0 is never.
        heartbeat: Seconds between two questions whether a process answers, and as many for the answer; 0 asks never.
        crashes: Crashes within five minutes that disable the plugin until somebody asks for it; 0 is never.
        reload: Whether the plugin is started anew when its files change.
    """

    scope: Scope = "plugin"
    workers: int = 1
    max_runs: int = 1000
    queue: int = 1000
    reserve: int = 1
    idle_stop: float = 0.0
    heartbeat: float = 5.0
    crashes: int = 3
    reload: bool = False

    @property
    def one_run(self) -> bool:
        """Whether each run has a process of its own."""
        return self.scope == "run"

    @property
    def room(self) -> int:
        """The most runs that are on processes at once."""
        return self.workers if self.one_run else self.workers * self.max_runs

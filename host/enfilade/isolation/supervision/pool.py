"""Runs to processes: the least loaded takes the next run; what finds no place waits in a line with an end."""

import asyncio
from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import Generic, Protocol, TypeVar

from enfilade_sdk.errors import BusyError, EnfiladeError

PATIENCE = 2.0
"""Seconds that a run waits for a process that is just starting when it could share one with another run."""


class Place(Protocol):
    """A process as far as the pool is concerned.

    Attributes:
        runs: Runs on it.
        slow: Whether it did not answer when it was last asked.
    """

    runs: int

    @property
    def slow(self) -> bool: ...  # noqa: D102 - see above

    @property
    def usable(self) -> bool:
        """Whether a new run may be put on it."""
        ...


P = TypeVar("P", bound=Place)


@dataclass(eq=False, slots=True)
class Waiting(Generic[P]):
    """A run that wants a place.

    Attributes:
        since: When it came.
        given: The place, in the end.
    """

    since: float
    given: asyncio.Future[P]


class Pool(Generic[P]):
    """The places of one plugin and the line before them.

    Args:
        plugin: The plugin's name, for errors.
        room: The most runs on places at once.
        max_runs: The most runs on one place.
        queue: The most runs that wait beyond that.
    """

    def __init__(self, plugin: str, room: int, max_runs: int, queue: int) -> None:
        self.places: list[P] = []
        self._plugin = plugin
        self._room = room
        self._max_runs = max_runs
        self._queue = queue
        self._line: deque[Waiting[P]] = deque()
        self._runs = 0

    @property
    def waiting(self) -> int:
        """Runs that wait."""
        return len(self._line)

    @property
    def need(self) -> int:
        """Places that runs have use for: those that have one or do not answer, and one for each that waits."""
        return sum(1 for place in self.places if place.runs or place.slow) + len(self._line)

    def ask(self) -> Waiting[P]:
        """Puts a run at the end of the line; `hand_out` gives it a place.

        Raises:
            BusyError: The line is at its end.
        """
        if self._runs + len(self._line) >= self._room + self._queue:
            raise BusyError(
                f"plugin {self._plugin!r} is busy: {self._runs} runs are on it, which may have {self._room}, and "
                f"{len(self._line)} wait, as many as may; try again later, or raise workers, max_runs or queue in "
                f"[plugins.{self._plugin}]",
                details={"retryable": True, "runs": self._runs, "waiting": len(self._line)},
            )
        waiting: Waiting[P] = Waiting(monotonic(), asyncio.get_running_loop().create_future())
        self._line.append(waiting)
        return waiting

    def hand_out(self, starting: int) -> float | None:
        """Gives places to those who wait, first come, first served.

        Args:
            starting: Processes that will be places soon. A run waits for one of them rather than take more than the
                fair share of a place that is there already.

        Returns:
            In how many seconds to hand out again though nothing has changed; None when there is no need.
        """
        while self._line and self._runs < self._room:
            place = self._least_loaded()
            if place is None:
                return None
            age = monotonic() - self._line[0].since
            if starting and age < PATIENCE and (place.slow or place.runs >= self._share(starting)):
                return PATIENCE - age
            waiting = self._line.popleft()
            if not waiting.given.done():
                place.runs += 1
                self._runs += 1
                waiting.given.set_result(place)
        return None

    def give_up(self, waiting: Waiting[P]) -> P | None:
        """Takes a run that is not wanted any more out of the line; gives the place it got in this very moment."""
        if waiting.given.done() and not waiting.given.cancelled() and waiting.given.exception() is None:
            return waiting.given.result()
        if waiting in self._line:
            self._line.remove(waiting)
        return None

    def give_back(self, place: P) -> None:
        """Takes a run off its place."""
        place.runs -= 1
        self._runs -= 1

    def refuse(self, error: EnfiladeError) -> None:
        """Ends everybody's waiting with an error; each gets one of its own."""
        while self._line:
            waiting = self._line.popleft()
            if not waiting.given.done():
                waiting.given.set_exception(again(error))

    def _share(self, starting: int) -> int:
        """Runs that each place would have if all had as many, rounded up."""
        runs = sum(place.runs for place in self.places) + len(self._line)
        return -(-runs // (len(self.places) + starting))

    def _least_loaded(self) -> P | None:
        free = [place for place in self.places if place.runs < self._max_runs and place.usable]
        return min(free, key=lambda place: (place.slow, place.runs), default=None)


def again(error: EnfiladeError) -> EnfiladeError:
    """The same error once more, for somebody else: a traceback belongs to whoever raised it."""
    other = type(error).__new__(type(error))
    other.args = error.args
    other.__dict__.update(error.__dict__, details=dict(error.details))
    return other

"""When a plugin that crashed may be started again, and when no more."""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True)
class CrashPolicy:
    """What follows on crashes. The numbers are the host's promise to operators (docs/operating.md).

    Attributes:
        first: Seconds to wait after the first crash; each further one doubles them.
        longest: The most seconds to wait.
        jitter: The part of the wait that is left to chance, so that what crashed together does not start together.
        stable: Seconds of running after which a crash counts as the first again.
        window: Seconds in which crashes add up.
    """

    first: float = 0.5
    longest: float = 30.0
    jitter: float = 0.2
    stable: float = 10.0
    window: float = 300.0


class Backoff:
    """Counts the crashes of one plugin.

    What crashes while the plugin waits already, as the other processes do that the same cause takes with it, belongs
    to the crash before and does not count again.

    Args:
        policy: What follows on crashes.
        limit: Crashes within the window that are too many; 0 is never.
        clock: Seconds that only go forward.
        chance: A number from 0 up to 1.
    """

    def __init__(
        self,
        policy: CrashPolicy,
        limit: int,
        clock: Callable[[], float] = monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._policy = policy
        self._limit = limit
        self._clock = clock
        self._chance = chance
        self._row = 0
        self._until = 0.0
        self._crashes: deque[float] = deque(maxlen=max(limit, 1))
        self.given_up = False

    @property
    def crashes(self) -> int:
        """Crashes within the window; no more than the limit are counted."""
        self._forget()
        return len(self._crashes)

    @property
    def left(self) -> float:
        """Seconds until it may be started again; 0 when it may be now."""
        return max(0.0, self._until - self._clock())

    def crashed(self, seconds: float) -> None:
        """Takes a crash down.

        Args:
            seconds: How long the process had been ready; 0 for one that did not come to life.
        """
        if self.left > 0:
            return
        if seconds >= self._policy.stable:
            self._row = 0
        self._row += 1
        self._crashes.append(self._clock())
        self._until = self._clock() + self._wait()
        self.given_up = self.given_up or bool(self._limit and self.crashes >= self._limit)

    def _wait(self) -> float:
        policy = self._policy
        full = min(policy.longest, policy.first * 2.0 ** min(self._row - 1, 32))
        return full * (1 - policy.jitter * self._chance())

    def _forget(self) -> None:
        horizon = self._clock() - self._policy.window
        while self._crashes and self._crashes[0] < horizon:
            self._crashes.popleft()

"""When a server that failed may be tried again."""

from collections.abc import Callable
from time import monotonic

FIRST_DELAY = 0.5
"""Seconds after the second failure in a row; the first one is followed by another try at once."""

LONGEST_DELAY = 60.0
"""Seconds between two tries, at most."""


class Backoff:
    """Counts failures in a row; the time between tries doubles with each.

    Args:
        clock: Seconds that only go forward.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._next = clock()

    @property
    def wait(self) -> float:
        """Seconds until the next try may be made."""
        return max(0.0, self._next - self._clock())

    def failed(self, seconds: float = 0.0) -> None:
        """Notes a failure.

        Args:
            seconds: How long the try took; the next one is put off for as long, so that tries that run out of time
                do not take up all of it.
        """
        delay = 0.0 if not self._failures else FIRST_DELAY * 2 ** min(self._failures - 1, 16)
        self._next = self._clock() + max(min(delay, LONGEST_DELAY), seconds)
        self._failures += 1

    def succeeded(self) -> None:
        """Notes that all is well."""
        self._failures = 0

"""What quotas count: rations, and what is set aside of them."""

from collections.abc import Mapping
from dataclasses import dataclass

Amounts = Mapping[str, float]
"""Amounts by what they are of: `tokens`, `cost`, `calls`, `tool_calls`."""

SLOTS = 60
"""Into how many parts a window is divided; what was used is free again a window, and at most one part, later."""


@dataclass(frozen=True, slots=True)
class Ration:
    """What one party may use.

    Attributes:
        key: Whose it is.
        window: Seconds; what was used longer ago does not count any more.
        limits: The most that may be used in a window.
    """

    key: str
    window: float
    limits: Amounts

    def slot(self, at: float) -> int:
        """The part of a window that a time (seconds since 1970) falls into."""
        return int(at * SLOTS / self.window)

    def free_in(self, slot: int, now: float) -> float:
        """Seconds from now until what was used in that part does not count any more."""
        return max(0.0, (slot + SLOTS + 1) * self.window / SLOTS - now)


@dataclass(frozen=True, slots=True)
class Reservation:
    """Amounts that were set aside, until they are settled.

    Attributes:
        id: Names it; unique in its store.
        ration: What it is part of.
        amounts: How much was set aside.
        at: When, in seconds since 1970.
    """

    id: str
    ration: Ration
    amounts: Amounts
    at: float


@dataclass(frozen=True, slots=True)
class Shortage:
    """A reservation that was refused.

    Attributes:
        what: Of what there is too little.
        used: How much of it is used or set aside.
        seconds: When the first of it will be free again.
    """

    what: str
    used: float
    seconds: float

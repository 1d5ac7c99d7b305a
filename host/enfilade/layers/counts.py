"""Where quotas keep their counts."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from enfilade.ration import SLOTS, Amounts, Ration, Reservation, Shortage


class Counts(Protocol):
    """Keeps counts, for many runs at once, and where it lasts, for many hosts.

    A reservation that is never settled, because its host died, counts until its window has passed.
    """

    async def reserve(self, ration: Ration, amounts: Amounts) -> Reservation | Shortage:
        """Sets amounts aside if all of them are there; to check and to set aside is one step."""
        ...

    async def settle(self, reservation: Reservation, amounts: Amounts) -> None:
        """Puts what was really used in the place of what was set aside."""
        ...


@dataclass(slots=True)
class _Account:
    """One party's amounts by slot and thing."""

    slots: dict[int, dict[str, float]] = field(default_factory=dict)
    first: int = 0

    def used(self, what: str) -> float:
        return sum(amounts.get(what, 0) for amounts in self.slots.values())

    def add(self, slot: int, amounts: Amounts, sign: int) -> None:
        there = self.slots.setdefault(slot, {})
        for what, amount in amounts.items():
            there[what] = there.get(what, 0) + sign * amount

    def forget_before(self, slot: int) -> None:
        for old in [known for known in self.slots if known < slot]:
            del self.slots[old]


class MemoryCounts:
    """Keeps the counts as long as the process lives, and none for longer than its window.

    Args:
        clock: Tells the time in seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._accounts: dict[float, OrderedDict[str, _Account]] = {}
        self._ids = count(1)

    @property
    def parties(self) -> int:
        """How many parties there are counts of."""
        return sum(len(accounts) for accounts in self._accounts.values())

    async def reserve(self, ration: Ration, amounts: Amounts) -> Reservation | Shortage:
        """Sets amounts aside if all of them are there."""
        now = self._clock()
        account = self._account(ration, now)
        for what, limit in ration.limits.items():
            used = account.used(what)
            if used + amounts.get(what, 0) > limit:
                return Shortage(what, used, self._free_in(account, what, ration, now))
        account.add(ration.slot(now), amounts, 1)
        return Reservation(str(next(self._ids)), ration, dict(amounts), now)

    async def settle(self, reservation: Reservation, amounts: Amounts) -> None:
        """Puts what was really used in the place of what was set aside."""
        ration, slot = reservation.ration, reservation.ration.slot(reservation.at)
        account = self._account(ration, self._clock())
        if slot in account.slots:
            account.add(slot, reservation.amounts, -1)
            account.add(slot, amounts, 1)

    def _account(self, ration: Ration, now: float) -> _Account:
        accounts = self._accounts.setdefault(ration.window, OrderedDict())
        first = ration.slot(now) - SLOTS
        account = accounts.get(ration.key)
        if account is None:
            account = accounts[ration.key] = _Account()
        elif account.first == first:  # nothing has run out since it was last looked at
            return account
        account.first = first
        account.forget_before(first)
        accounts.move_to_end(ration.key)
        while (oldest := next(iter(accounts.values()))) is not account and max(oldest.slots, default=-1) < first:
            accounts.popitem(last=False)
        return account

    def _free_in(self, account: _Account, what: str, ration: Ration, now: float) -> float:
        oldest = min((slot for slot, amounts in account.slots.items() if amounts.get(what)), default=ration.slot(now))
        return ration.free_in(oldest, now)

"""Counts of quotas that last, and that several hosts share."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar
from uuid import uuid4

from enfilade.ration import SLOTS, Amounts, Ration, Reservation, Shortage
from enfilade.store.clock import CLOCK, MICROSECONDS, now
from enfilade.store.database import Database, Execute
from enfilade.store.errors import StoreError
from enfilade.store.text import stored_text

_log = logging.getLogger(__name__)

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
_USED = (
    "SELECT what, SUM(amount), MIN(CASE WHEN amount > 0 THEN slot END) FROM quota_uses "
    "WHERE party = $1 AND span = $2 AND slot >= $3 GROUP BY what"
)
_ADD = (
    "INSERT INTO quota_uses (party, span, slot, what, amount, ends_at) VALUES ($1, $2, $3, $4, $5, $6) "
    "ON CONFLICT (party, span, slot, what) DO UPDATE SET amount = quota_uses.amount + excluded.amount"
)
_CORRECT = "UPDATE quota_uses SET amount = amount + $5 WHERE party = $1 AND span = $2 AND slot = $3 AND what = $4"
_FORGET = "DELETE FROM quota_uses WHERE ends_at < $1"

SETTLE_SECONDS = 0.05
"""How long what was settled may wait for company; meanwhile what was set aside counts."""

Place = tuple[str, int, int, str]
"""Party, window, part of the window, thing."""

Result = TypeVar("Result")

FORGET_SECONDS = 60.0
"""How often what no window reaches any more is deleted."""


class StoredCounts:
    """Keeps the counts in the store. To check and to set aside is one transaction, in which nobody else counts.

    The time is the server's on PostgreSQL, so that hosts whose clocks differ agree on it. Two quotas that share a party
    and a window share their counts.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._forgotten_at = 0.0
        self._pending: dict[Place, float] = {}
        self._flush: asyncio.TimerHandle | None = None
        self._settling: asyncio.Task[None] | None = None

    async def reserve(self, ration: Ration, amounts: Amounts) -> Reservation | Shortage:
        """Sets amounts aside if all of them are there. One whose caller is cancelled meanwhile is given back.

        Raises:
            StoreError: The store cannot be written now, so that nobody knows whether there is enough.
        """
        made: list[Reservation] = []
        left = False

        async def reserved() -> Reservation | Shortage:
            answer = await self._transact(lambda execute: self._reserve(execute, ration, amounts))
            if left and isinstance(answer, Reservation):
                await self.settle(answer, {})
            elif isinstance(answer, Reservation):
                made.append(answer)
            return answer

        try:
            return await self._database.finish(reserved())
        except asyncio.CancelledError:
            left = True
            for reservation in made:  # it was there just as the caller left
                await self.settle(reservation, {})
            raise

    async def settle(self, reservation: Reservation, amounts: Amounts) -> None:
        """Puts what was really used in the place of what was set aside.

        In a file it is written with this host's next reservation, or within `SETTLE_SECONDS`. Where the store cannot be
        written, and where this host dies before, what was set aside goes on counting until its window has passed.
        """
        slot = reservation.ration.slot(reservation.at)
        for what, reserved in reservation.amounts.items():
            if change := amounts.get(what, 0.0) - reserved:
                place = (*_place(reservation.ration), slot, what)
                self._pending[place] = self._pending.get(place, 0.0) + change
        if self._database.is_postgres:
            await self._settled()
        elif self._pending and self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._begin_to_settle)

    async def aclose(self) -> None:
        """Writes what is settled and not written yet."""
        if self._flush is not None:
            self._flush.cancel()
        if self._pending:
            await self._settled()

    def _begin_to_settle(self) -> None:
        self._settling = self._database.begin(self._settled())

    async def _settled(self) -> None:
        self._flush = None
        try:
            await self._database.finish(self._transact(_nothing))
        except StoreError as error:
            _log.warning("a quota counts what was set aside, not what was used: %s", error.message)

    async def _transact(self, work: Callable[[Execute], Result]) -> Result:
        """Does work after what is settled; that is in order, so that no two hosts wait for each other's rows."""
        pending, self._pending = self._pending, {}

        def corrected(execute: Execute) -> Result:
            for place, change in sorted(pending.items()):
                execute(_CORRECT, (*place, change))
            return work(execute)

        try:
            return await self._database.transact(corrected)
        except StoreError:
            for place, change in pending.items():
                self._pending[place] = self._pending.get(place, 0.0) + change
            raise

    def _reserve(self, execute: Execute, ration: Ration, amounts: Amounts) -> Reservation | Shortage:
        party, span = _place(ration)
        if self._database.is_postgres:
            execute(_LOCK, (f"quota {span} {party}",))
        at = self._time(execute)
        slot = ration.slot(at)
        found = execute(_USED, (party, span, slot - SLOTS))
        used = {what: (amount, oldest) for what, amount, oldest in found}
        for what, limit in ration.limits.items():
            amount, oldest = used.get(what, (0.0, None))
            if amount + amounts.get(what, 0.0) > limit:
                return Shortage(what, amount, ration.free_in(slot if oldest is None else oldest, at))
        ends_at = int((slot + SLOTS + 1) * ration.window / SLOTS * MICROSECONDS)
        for what, amount in sorted(amounts.items()):
            execute(_ADD, (party, span, slot, what, float(amount), ends_at))
        self._forget(execute, at)
        return Reservation(uuid4().hex, ration, dict(amounts), at)

    def _forget(self, execute: Execute, at: float) -> None:
        if abs(at - self._forgotten_at) > FORGET_SECONDS:
            self._forgotten_at = at
            execute(_FORGET, (int(at * MICROSECONDS),))

    def _time(self, execute: Execute) -> float:
        """Seconds since 1970, by the clock that all hosts of this store share."""
        at = int(execute(CLOCK, ())[0][0]) if self._database.is_postgres else now()
        return at / MICROSECONDS


def _nothing(_execute: Execute) -> None:
    """There is no work but what was settled."""


def _place(ration: Ration) -> tuple[str, int]:
    """Party and window (in milliseconds) as they are kept."""
    return stored_text(ration.key), round(ration.window * 1000)

"""The counts of quotas in a store that is opened when they are first needed."""

from enfilade.extensions.late_store import LateStore
from enfilade.hookspecs import CountingStore
from enfilade.layers.counts import Counts, MemoryCounts
from enfilade.ration import Amounts, Ration, Reservation, Shortage


class LateCounts:
    """Counts in the store, or in memory where the store keeps no counts.

    Args:
        store: The store.
    """

    def __init__(self, store: LateStore) -> None:
        self._store = store
        self._memory = MemoryCounts()

    async def reserve(self, ration: Ration, amounts: Amounts) -> Reservation | Shortage:
        """Sets amounts aside if all of them are there.

        Raises:
            StoreError: The store cannot be opened or written now.
        """
        return await (await self._counts()).reserve(ration, amounts)

    async def settle(self, reservation: Reservation, amounts: Amounts) -> None:
        """Puts what was really used in the place of what was set aside."""
        await (await self._counts()).settle(reservation, amounts)

    async def _counts(self) -> Counts:
        store = await self._store.opened()
        return store.counts if isinstance(store, CountingStore) else self._memory

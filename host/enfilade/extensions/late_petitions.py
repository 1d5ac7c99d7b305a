"""The record of petitions in a store that is opened when it is first needed."""

from enfilade.errors import ConfigError
from enfilade.extensions.late_store import LateStore
from enfilade.hookspecs import PetitioningStore
from enfilade.layers.petition import Petitions
from enfilade.petition import Decision, Petition


class LatePetitions:
    """Petitions in the store.

    Args:
        store: The store.
    """

    def __init__(self, store: LateStore) -> None:
        self._store = store

    async def open(self, petition: Petition) -> None:
        """Writes a petition down.

        Raises:
            ConfigError: The store keeps none.
            StoreError: The store cannot be opened or written now.
        """
        await (await self._petitions()).open(petition)

    async def decision(self, petition_id: str) -> Decision:
        """Waits until somebody has decided."""
        return await (await self._petitions()).decision(petition_id)

    async def expire(self, petition_id: str) -> Decision | None:
        """Closes a petition whose time is over; gives a decision that came in time and was not heard yet."""
        return await (await self._petitions()).expire(petition_id)

    async def close(self, petition_id: str) -> None:
        """Takes a petition off the record."""
        await (await self._petitions()).close(petition_id)

    async def _petitions(self) -> Petitions:
        store = await self._store.opened()
        if not isinstance(store, PetitioningStore):
            raise ConfigError("the layer approval has via = 'record', and the [store] keeps no petitions")
        return store.petitions

"""The store of one host, open: its records, conversations, values and sums."""

import logging
from types import TracebackType
from typing import Self

from enfilade.store.conversation import Conversation, Window, conversation
from enfilade.store.counts import StoredCounts
from enfilade.store.database import Database
from enfilade.store.errors import StoreError
from enfilade.store.leases import Lease
from enfilade.store.petitions import StoredPetitions
from enfilade.store.records import Records
from enfilade.store.settings import StoreSettings
from enfilade.store.usage import UsageScope, UsageSum, usage_sum
from enfilade.store.values import StoredValues

_log = logging.getLogger(__name__)


class Store:
    """What a host writes to and reads from. `open` gives one; close it with `aclose`, or use it as `async with`.

    For a listing, `Database.open` and the functions of `runs`, `export` and `usage` are enough: no host begins by that.

    Attributes:
        database: The database.
        records: Takes what happens.
        values: The small storage.
        counts: What quotas count.
        petitions: Tool calls that wait for somebody's word.
        interrupted: The ids of the runs of dead hosts that were closed when this store was opened.
    """

    def __init__(self, database: Database, lease: Lease, settings: StoreSettings, interrupted: list[str]) -> None:
        self.database = database
        self.records = Records(database, settings, lease.host_id)
        self.values = StoredValues(database)
        self.counts = StoredCounts(database)
        self.petitions = StoredPetitions(database, lease.host_id)
        self.interrupted = interrupted
        self._lease = lease

    @classmethod
    async def open(cls, settings: StoreSettings | None = None) -> Self:
        """Opens the store, makes or updates its tables, closes the runs of hosts that died.

        Raises:
            StoreError: It cannot be opened or written, or was made by a newer version; the text says what to do.
        """
        settings = settings or StoreSettings()
        database = await Database.open(settings)
        lease = Lease(database, settings)
        try:
            return cls(database, lease, settings, await lease.take())
        except BaseException:
            await database.aclose()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self, seconds: float = 5.0) -> None:
        """Writes what waits, for so long, gives up the claim on this host's runs, and closes the database."""
        await self.petitions.aclose()
        await self.counts.aclose()
        await self.records.aclose(seconds)
        try:
            await self._lease.release()
        except StoreError as error:
            _log.warning("the host could not sign off; another one will see that it is gone: %s", error.message)
        await self.database.aclose()

    async def conversation(
        self, conversation_id: str, *, user_id: str | None = None, window: Window | None = None
    ) -> Conversation:
        """A conversation's messages for the next turn, with the turn that has just ended. See `conversation`.

        Raises:
            StoreError: The store cannot be written or read now.
        """
        await self.records.flush()
        return await self.database.finish(conversation(self.database, conversation_id, user_id=user_id, window=window))

    async def usage(self, scope: UsageScope) -> UsageSum:
        """What was used, with the call that has just ended. See `usage_sum`.

        Raises:
            StoreError: The store cannot be written or read now.
        """
        await self.records.flush()
        return await self.database.finish(usage_sum(self.database, scope))

"""The task that writes what waits, batch by batch; bounded, and patient with a store that is away for a while."""

import asyncio
import contextlib
import logging

from enfilade.store.batch import Batch, Note
from enfilade.store.database import Database
from enfilade.store.delivery import deliver
from enfilade.store.errors import StoreError, Trouble
from enfilade.store.settings import StoreSettings

_log = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
"""Seconds between two tries while the store cannot be written; they double."""

LONGEST_NOTE = 1.0
"""Seconds; with a longer interval nothing is only noted down."""

HURRY_SHARE = 4
"""A batch is written before its time when it is this part of the room."""


class Writer:
    """Writes batches. Between two of them it waits half the interval, so that the other half is left for writing.

    Args:
        database: Where to.
        settings: How much may wait, and how long.

    Attributes:
        batch: What is being gathered; add to it, then call `added`.
        trouble: Why the last try failed; None when it did not.
    """

    def __init__(self, database: Database, settings: StoreSettings) -> None:
        self.batch = Batch()
        self.trouble: StoreError | None = None
        self._database = database
        self._interval = settings.interval
        self._patient = settings.interval > LONGEST_NOTE
        self._most_records = settings.buffer_records
        self._most_bytes = settings.buffer_bytes
        self._under_way = Batch()
        self._taken = 0
        self._written = 0
        self._failures = 0
        self._work = asyncio.Event()
        self._hurry = asyncio.Event()
        self._changed = asyncio.Condition()
        self._closing = False
        self._task = asyncio.create_task(self._run(), name="enfilade-records")

    @property
    def waiting(self) -> int:
        """How many records are not written yet."""
        return len(self.batch) + len(self._under_way)

    @property
    def has_room(self) -> bool:
        """Whether more may be added now."""
        batch, under_way = self.batch, self._under_way
        return (
            batch.records + under_way.records < self._most_records
            and batch.size + under_way.size < self._most_bytes
            and not self._closing
        )

    def added(self) -> None:
        """Says that something was added to the batch."""
        if self._task.done():
            _log.error("a record came after the records were closed; it is lost")
        self._work.set()
        batch = self.batch
        if batch.records * HURRY_SHARE > self._most_records or batch.size * HURRY_SHARE > self._most_bytes:
            self._hurry.set()

    def note(self, note: Note) -> None:
        """Takes a note. It becomes rows at once where that may be long in coming: their size has to be known then."""
        if self._patient or self._under_way.records:
            self.batch.read()
            note()
        else:
            self.batch.note(note)
        self.added()

    async def room(self) -> None:
        """Waits until there is room for more.

        Raises:
            StoreError: There is none, and the store cannot be written now.
        """
        if self.has_room:
            return
        self._check_open()
        async with self._changed:
            await self._changed.wait_for(lambda: self.has_room or self.trouble is not None or self._closing)
        self._check_open()
        if self.trouble is not None and not self.has_room:
            text = f"{self.waiting} records wait, and no more fit: {self.trouble.message}"
            raise StoreError(text, Trouble.BUFFER_FULL)

    async def flush(self) -> None:
        """Waits until everything that was added is written.

        Raises:
            StoreError: The store cannot be written now; what was added still waits and is tried again.
        """
        self._check_open()
        target = self._taken + 1 if self.batch else self._taken
        failures = self._failures
        self._work.set()
        self._hurry.set()
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._written >= target or self._failures > failures or self._task.done()
            )
        if self._written < target:
            raise self.trouble or _closed()

    async def close(self, seconds: float) -> None:
        """Writes what waits, for so long, then ends. What could not be written is logged with its number."""
        self._closing = True
        self._work.set()
        self._hurry.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._task)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        if self.waiting:
            reason = self.trouble.message if self.trouble is not None else f"there was no time in {seconds:g} s"
            _log.error("%d records are lost: %s", self.waiting, reason)

    def _check_open(self) -> None:
        if self._closing:
            raise _closed()

    async def _run(self) -> None:
        try:
            while await self._next():
                await self._deliver()
        finally:
            async with self._changed:
                self._changed.notify_all()

    async def _next(self) -> bool:
        """Waits for a batch and takes it; False when there is none and none will come."""
        while not self.batch:
            if self._closing:
                return False
            self._work.clear()
            self._hurry.clear()
            await self._work.wait()
        if not self._closing:
            await _either(self._hurry, self._interval / 2)
        self._hurry.clear()
        self.batch.seal()
        self._under_way, self.batch = self.batch, Batch()
        self._taken += 1
        return True

    async def _deliver(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                await deliver(self._database, self._under_way)
            except StoreError as error:
                await self._failed(error)
            else:
                await self._succeeded()
                return
            await _either(self._hurry, pause)
            self._hurry.clear()
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _failed(self, error: StoreError) -> None:
        if self.trouble is None or self.trouble.trouble is not error.trouble:
            _log.warning("records wait and are tried again: %s", error.message)
        self.trouble = error
        self._failures += 1
        async with self._changed:
            self._changed.notify_all()

    async def _succeeded(self) -> None:
        if self.trouble is not None:
            _log.warning("the store %s can be written again; what waited is written", self._database.place)
        self.trouble = None
        self._under_way = Batch()
        self._written = self._taken
        async with self._changed:
            self._changed.notify_all()


def _closed() -> StoreError:
    return StoreError("the records are closed; nothing is written any more")


async def _either(event: asyncio.Event, seconds: float) -> None:
    """Waits for an event, or for so long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()

"""Which host owns which running runs, and what becomes of the runs of one that died."""

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from enfilade.store.clock import MICROSECONDS, now
from enfilade.store.database import CLOSE_SECONDS, Database
from enfilade.store.errors import StoreError
from enfilade.store.machine import ProcessIdentity
from enfilade.store.petition_state import PetitionState
from enfilade.store.settings import StoreSettings
from enfilade.store.state import State

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HostSeen:
    """A host as its row tells.

    Attributes:
        id: Its id.
        process: Its process.
        silent: Seconds since its last sign of life, or since it could leave one.
    """

    id: str
    process: ProcessIdentity
    silent: float

    def is_dead(self, dead_after: float) -> bool:
        """Whether it died.

        On the same machine the process itself is looked at: one that is stopped or busy is not dead. Of another
        machine, and of another host in this very process, only the signs of life tell.
        """
        if self.process.is_elsewhere or self.process.is_own:
            return self.silent > dead_after
        return self.process.is_gone()


class Lease:
    """This host's claim on its running runs: a row that it signs now and then.

    Args:
        database: Where the row is.
        settings: How often it signs, and after how long a silent host counts as dead.
    """

    def __init__(self, database: Database, settings: StoreSettings) -> None:
        self.host_id = uuid4().hex
        self._database = database
        self._settings = settings
        self._process = ProcessIdentity.own()
        self._signed = time.monotonic()
        self._task: asyncio.Task[None] | None = None
        self._released = asyncio.Event()

    async def take(self) -> list[str]:
        """Signs for the first time, closes the runs of dead hosts, and goes on signing.

        Returns:
            The ids of the runs that this host closed.

        Raises:
            StoreError: The store cannot be written.
        """
        await self.sign()
        closed = await self.close_dead()
        self._task = asyncio.create_task(self._go_on(), name="enfilade-lease")
        return closed

    async def sign(self) -> None:
        """Leaves a sign of life.

        Raises:
            StoreError: The store cannot be written.
        """
        hosts = self._database.tables.hosts
        async with self._database.writing() as connection:
            at = await self._database.clock(connection)
            signed = await connection.execute(hosts.update().where(hosts.c.id == self.host_id).values(beat_at=at))
            if not signed.rowcount:
                own = self._process
                row = {"id": self.host_id, "machine": own.machine, "pid": own.pid, "process_began": own.began}
                await connection.execute(hosts.insert().values(row | {"began_at": at, "beat_at": at}))
        self._signed = time.monotonic()

    async def close_dead(self) -> list[str]:
        """Closes the runs whose host died, as interrupted. Each is closed once, however many hosts try at a time.

        Returns:
            The ids of the runs that this host closed.

        Raises:
            StoreError: The store cannot be written.
        """
        hosts = self._database.tables.hosts
        async with self._database.writing() as connection:
            seen = await self._seen(connection)
            dead = [host.id for host in seen if host.is_dead(self._settings.dead_after) and host.id != self.host_id]
            alive = hosts.select().with_only_columns(hosts.c.id).where(hosts.c.id.not_in(dead))
            closed = await self._close(connection, self._database.tables.runs.c.host_id.not_in(alive))
            await self._lapse(connection, self._database.tables.petitions.c.host_id.not_in(alive))
            await connection.execute(hosts.delete().where(hosts.c.id.in_(dead)))
        if closed:
            _log.warning(
                "%d runs of a host that died were closed as interrupted: %s", len(closed), ", ".join(closed[:20])
            )
        return closed

    async def release(self) -> None:
        """Gives the claim up, at the host's end; runs that nobody ended are closed as interrupted.

        Raises:
            StoreError: The store cannot be written; another host will find the claim given up later.
        """
        await self._stop()
        tables = self._database.tables
        async with self._database.writing() as connection:
            await self._close(connection, tables.runs.c.host_id == self.host_id)
            await self._lapse(connection, tables.petitions.c.host_id == self.host_id)
            await connection.execute(tables.hosts.delete().where(tables.hosts.c.id == self.host_id))

    async def _stop(self) -> None:
        """Ends the signing; a sign that is being left is left first."""
        self._released.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
            self._task.cancel()

    async def _seen(self, connection: "AsyncConnection") -> list[HostSeen]:
        at = await self._database.clock(connection)
        since = await self._database.up_since(connection)
        rows = await connection.execute(self._database.tables.hosts.select())
        return [
            HostSeen(
                row["id"],
                ProcessIdentity(row["machine"], row["pid"], row["process_began"]),
                (at - max(row["beat_at"], since)) / MICROSECONDS,
            )
            for row in rows.mappings()
        ]

    async def _close(self, connection: "AsyncConnection", whose: Any) -> list[str]:
        tables = self._database.tables
        end: dict[str, Any] = {"status": State.INTERRUPTED.value}
        running = tables.runs.update().where(tables.runs.c.status == State.RUNNING.value, whose)
        ended = await connection.execute(running.values(end | {"ended_at": now()}).returning(tables.runs.c.id))
        closed = [str(run_id) for run_id in ended.scalars()]
        for table in (tables.rounds, tables.calls):
            ours = table.c.run_id.in_(closed)
            await connection.execute(table.update().where(table.c.status == State.RUNNING.value, ours).values(end))
        return closed

    async def _lapse(self, connection: "AsyncConnection", whose: Any) -> None:
        """Closes petitions that nobody waits for any more."""
        petitions = self._database.tables.petitions
        waiting = petitions.update().where(petitions.c.status == PetitionState.WAITING.value, whose)
        await connection.execute(waiting.values(status=PetitionState.LAPSED.value, decided_at=now()))

    async def _go_on(self) -> None:
        while not await self._is_released_within(self._settings.beat):
            late = time.monotonic() - self._signed > self._settings.dead_after / 2
            try:
                await self.sign()
                if not late:  # after a sleep of the machine or a time without the store, the others get to sign first
                    await self.close_dead()
            except StoreError as error:
                _log.warning("no sign of life could be left: %s", error.message)

    async def _is_released_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._released.wait()
        return self._released.is_set()

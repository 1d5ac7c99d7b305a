"""Petitions of this host's runs, which another process answers."""

import asyncio
import contextlib
import logging
import time

from enfilade.petition import Decision, Petition
from enfilade.store.clock import MICROSECONDS, now
from enfilade.store.database import Database, Record
from enfilade.store.errors import StoreError
from enfilade.store.masking import Masking
from enfilade.store.petition_state import PetitionState
from enfilade.store.text import loaded_json, loaded_text, stored_json, stored_text

_log = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
"""How often a host looks for words on its petitions, all of them at once."""

SLACK = 10_000
"""Microseconds by which the clocks that say when a petition expires may differ."""


class StoredPetitions:
    """Writes petitions down and looks for the words on them, for as long as any waits.

    Args:
        database: Where.
        host_id: Whose runs ask.
    """

    def __init__(self, database: Database, host_id: str) -> None:
        self._database = database
        self._host_id = host_id
        self._waiting: dict[str, asyncio.Future[Decision]] = {}
        self._looking: asyncio.Task[None] | None = None

    async def open(self, petition: Petition) -> None:
        """Writes a petition down.

        Raises:
            StoreError: The store cannot be written now, so that nobody can be asked.
        """
        await self._database.finish(self._insert(petition))
        self._waiting[petition.id] = asyncio.get_running_loop().create_future()
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="enfilade-petitions")

    async def decision(self, petition_id: str) -> Decision:
        """Waits until somebody has decided."""
        return await self._waiting[petition_id]

    async def expire(self, petition_id: str) -> Decision | None:
        """Closes a petition whose time is over; gives the word that came in time and was not seen yet.

        From then on nobody can answer it, so that who was told that his word counts is heard.
        """
        try:
            decision = await self._database.finish(self._expire(petition_id))
        except StoreError as error:
            _log.warning("it cannot be seen whether somebody has answered in time: %s", error.message)
            return None  # and `close` tries once more to close it
        self._waiting.pop(petition_id, None)
        return decision

    async def close(self, petition_id: str) -> None:
        """Takes a petition off that nobody waits for any more. A word that came too late to be heard does not stand."""
        waited = self._waiting.pop(petition_id, None)
        if waited is None or (waited.done() and not waited.cancelled()):
            return
        try:
            await self._database.finish(self._withdraw(petition_id))
        except StoreError as error:
            _log.warning("a petition that nobody waits for any more stays in the store: %s", error.message)

    async def aclose(self) -> None:
        """Stops looking."""
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None

    async def _insert(self, petition: Petition) -> None:
        mask = Masking(petition.secrets)
        arguments = petition.arguments if isinstance(petition.arguments, str) else dict(petition.arguments)
        names = ("run_id", "plugin", "strategy", "tool", "call_id")
        conversation = petition.conversation
        row = {name: stored_text(mask.text(getattr(petition, name))) for name in names}
        async with self._database.writing() as connection:
            at = await self._database.clock(connection)
            seconds = petition.expires_at - time.time()
            await connection.execute(
                self._database.tables.petitions.insert().values(
                    **row,
                    id=petition.id,
                    host_id=self._host_id,
                    status=PetitionState.WAITING.value,
                    user_id=stored_text(petition.user),
                    conversation_id=None if conversation is None else stored_text(conversation),
                    arguments=stored_json(mask.value(arguments)),
                    asked_at=at,
                    expires_at=at + int(seconds * MICROSECONDS),
                )
            )

    async def _expire(self, petition_id: str) -> Decision | None:
        petitions = self._database.tables.petitions
        this = petitions.c.id == petition_id
        async with self._database.writing() as connection:
            waits = this & (petitions.c.status == PetitionState.WAITING.value)
            end = {"status": PetitionState.EXPIRED.value, "decided_at": now()}
            if (await connection.execute(petitions.update().where(waits).values(end))).rowcount:
                return None
            (row,) = (await connection.execute(petitions.select().where(this))).mappings()
            return _decision(row)

    async def _withdraw(self, petition_id: str) -> None:
        petitions = self._database.tables.petitions
        async with self._database.writing() as connection:
            at = await self._database.clock(connection)
            (row,) = (await connection.execute(petitions.select().where(petitions.c.id == petition_id))).mappings()
            state = PetitionState.EXPIRED if at + SLACK >= row["expires_at"] else PetitionState.WITHDRAWN
            end = {"status": state.value, "decided_arguments": None, "decided_at": now()}
            await connection.execute(petitions.update().where(petitions.c.id == petition_id).values(end))

    async def _look(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(LOOK_SECONDS)
                try:
                    await self._database.finish(self._hear())
                except StoreError as error:
                    _log.warning("it cannot be seen whether somebody has answered: %s", error.message)
        finally:
            self._looking = None

    async def _hear(self) -> None:
        petitions = self._database.tables.petitions
        waiting = [name for name, heard in self._waiting.items() if not heard.done()]
        query = petitions.select().where(petitions.c.id.in_(waiting), petitions.c.status != PetitionState.WAITING.value)
        for row in await self._database.rows(query) if waiting else ():
            heard = self._waiting.get(row["id"])
            if heard is not None and not heard.done():
                heard.set_result(_decision(row))


def _decision(row: Record) -> Decision:
    allowed = row["status"] == PetitionState.ALLOWED.value
    reason = "" if row["reason"] is None else loaded_text(row["reason"])
    return Decision(allowed, loaded_json(row["decided_arguments"]) if allowed else None, reason)

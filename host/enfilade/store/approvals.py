"""Looking at petitions and answering them, from any process."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from enfilade.store.database import Database, Record
from enfilade.store.errors import PetitionClosedError, PetitionNotFoundError
from enfilade.store.petition_state import PetitionState
from enfilade.store.shown import moment, time_of
from enfilade.store.text import loaded_json, loaded_text, stored_json, stored_text

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

SHORTEST = 4
"""So many characters of an id are enough, when no other id begins so."""


@dataclass(frozen=True, slots=True)
class PetitionShown:
    """A petition as it stands.

    Attributes:
        id: Its id.
        status: Where it stands.
        run_id: The run that asks.
        user_id: Whose run it is.
        plugin: The plugin whose strategy asks.
        strategy: The strategy.
        conversation_id: The conversation; None outside of one.
        tool: The tool.
        arguments: What it is to be called with, secrets masked.
        asked_at: When.
        expires_at: When it counts as refused.
        decided_at: When it left the state of waiting; None while it waits.
        decided_arguments: What it was allowed with instead; None for unchanged.
        reason: What whoever denied it said.
    """

    id: str
    status: PetitionState
    run_id: str
    user_id: str
    plugin: str
    strategy: str
    conversation_id: str | None
    tool: str
    arguments: Any
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_arguments: Any
    reason: str | None

    @classmethod
    def of(cls, row: Record, at: int) -> "PetitionShown":
        """Reads a row; one that waits after its time has expired, whether its host has said so or not."""
        status = PetitionState(row["status"])
        if status is PetitionState.WAITING and at >= row["expires_at"]:
            status = PetitionState.EXPIRED
        names = ("run_id", "user_id", "plugin", "strategy", "tool")
        texts = {name: loaded_text(row[name]) for name in names}
        return cls(
            id=row["id"],
            status=status,
            conversation_id=None if row["conversation_id"] is None else loaded_text(row["conversation_id"]),
            arguments=loaded_json(row["arguments"]),
            asked_at=moment(row["asked_at"]),
            expires_at=moment(row["expires_at"]),
            decided_at=time_of(row["decided_at"]),
            decided_arguments=loaded_json(row["decided_arguments"]),
            reason=None if row["reason"] is None else loaded_text(row["reason"]),
            **texts,
        )

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        times = {name: getattr(self, name) for name in ("asked_at", "expires_at", "decided_at")}
        names = ("id", "run_id", "user_id", "plugin", "strategy", "conversation_id", "tool", "arguments")
        form = {name: getattr(self, name) for name in (*names, "decided_arguments", "reason")}
        dates = {name: None if value is None else value.isoformat() for name, value in times.items()}
        return {"status": self.status.value, **form, **dates}


async def list_petitions(database: Database, *, closed: bool = False, limit: int = 100) -> list[PetitionShown]:
    """The petitions that wait for a word, the oldest first.

    Args:
        database: Where they are.
        closed: Whether to list those that do not wait any more instead, the newest first.
        limit: How many.

    Raises:
        StoreError: The store cannot be read now.
    """
    petitions = database.tables.petitions
    async with database.reading() as connection:
        at = await database.clock(connection)
        waits = (petitions.c.status == PetitionState.WAITING.value) & (petitions.c.expires_at > at)
        query = petitions.select().where(~waits if closed else waits).limit(limit)
        order = petitions.c.asked_at.desc() if closed else petitions.c.asked_at
        rows = (await connection.execute(query.order_by(order, petitions.c.id))).mappings()
        return [PetitionShown.of(row, at) for row in rows]


async def decide_petition(
    database: Database, name: str, *, allowed: bool, arguments: Mapping[str, Any] | None = None, reason: str = ""
) -> PetitionShown:
    """Answers a petition that waits; of two who answer at once, one does.

    Args:
        database: Where it is.
        name: Its id, or the beginning of it.
        allowed: Whether the call may be made.
        arguments: What it is to be made with instead; None leaves them as they are.
        reason: Why not, for the model.

    Raises:
        PetitionNotFoundError: There is none of that id, or several.
        PetitionClosedError: It does not wait any more.
        StoreError: The store cannot be written now.
    """
    petitions = database.tables.petitions
    word = {
        "status": (PetitionState.ALLOWED if allowed else PetitionState.DENIED).value,
        "decided_arguments": None if arguments is None else stored_json(dict(arguments)),
        "reason": stored_text(reason) if reason else None,
    }
    async with database.writing() as connection:
        at = await database.clock(connection)
        petition_id = await _found(database, connection, name)
        waits = (petitions.c.status == PetitionState.WAITING.value) & (petitions.c.expires_at > at)
        answer = petitions.update().where(petitions.c.id == petition_id, waits).values(word | {"decided_at": at})
        done = await connection.execute(answer)
        (row,) = (await connection.execute(petitions.select().where(petitions.c.id == petition_id))).mappings()
        shown = PetitionShown.of(row, at)
    if not done.rowcount:
        raise PetitionClosedError(
            f"the petition {petition_id} does not wait for a word any more: it is {shown.status.value}"
        )
    return shown


async def _found(database: Database, connection: "AsyncConnection", name: str) -> str:
    from sqlalchemy import func

    petitions = database.tables.petitions
    if len(name) < SHORTEST:
        raise PetitionNotFoundError(f"give at least {SHORTEST} characters of the petition's id, got {name!r}")
    begins = func.substr(petitions.c.id, 1, len(name)) == name  # LIKE would be case-blind in SQLite
    query = petitions.select().with_only_columns(petitions.c.id).where(begins)
    ids = [str(found) for found in (await connection.execute(query.limit(2))).scalars()]
    if not ids:
        raise PetitionNotFoundError(
            f"there is no petition whose id begins with {name!r}; see 'enfilade approvals list'"
        )
    if len(ids) > 1:
        raise PetitionNotFoundError(f"several petitions have an id that begins with {name!r}; give more of it")
    return ids[0]

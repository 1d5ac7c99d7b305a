"""Recorded runs: listed, found by the beginning of an id, shown, deleted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from enfilade.store.clock import MICROSECONDS
from enfilade.store.database import Database
from enfilade.store.errors import RunBusyError, RunNotFoundError
from enfilade.store.shown import CallShown, FileShown, RoundShown, RunShown, RunSummary
from enfilade.store.state import State
from enfilade.store.text import loaded_json, loaded_text, stored_text
from enfilade.store.usage import UsageScope, usage_by, usage_sum

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

SHORTEST_PREFIX = 4
"""Characters of an id that are enough to name a run, when no other one begins so."""

SHOWN_MATCHES = 5

DELETED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs; None is all.

    Attributes:
        status, strategy, user_id, conversation_id: Of which only.
        before: Begun before this time (with a time zone).
    """

    status: State | None = None
    strategy: str | None = None
    user_id: str | None = None
    conversation_id: str | None = None
    before: datetime | None = None


async def list_runs(database: Database, which: RunFilter | None = None, *, limit: int = 20) -> list[RunSummary]:
    """The newest runs, newest first; for the next page, give the last one's `began_at` as `before`.

    Raises:
        StoreError: The store cannot be read now.
    """
    runs = database.tables.runs
    query = runs.select().where(*_conditions(database, which or RunFilter()))
    rows = await database.rows(query.order_by(runs.c.began_at.desc(), runs.c.id.desc()).limit(limit))
    return [RunSummary.of(row) for row in rows]


async def find_run(database: Database, name: str) -> str:
    """The id of the run that is named by its id, or by the beginning of it.

    Raises:
        RunNotFoundError: There is none, or there are several; the text names them.
        StoreError: The store cannot be read now.
    """
    from sqlalchemy import func

    runs = database.tables.runs
    ids = runs.select().with_only_columns(runs.c.id)
    if await database.rows(ids.where(runs.c.id == name)):
        return name
    if len(name) < SHORTEST_PREFIX:
        raise RunNotFoundError(f"no run has the id {name!r}; give the id, or its first {SHORTEST_PREFIX} characters")
    begins = func.substr(runs.c.id, 1, len(name)) == name  # LIKE would be case-blind in SQLite
    alike = await database.rows(ids.where(begins).limit(SHOWN_MATCHES + 1))
    if not alike:
        raise RunNotFoundError(f"no recorded run has an id that begins with {name!r}; `enfilade runs list` shows them")
    if len(alike) > 1:
        names = ", ".join(row["id"] for row in alike[:SHOWN_MATCHES])
        raise RunNotFoundError(f"several runs have ids that begin with {name!r}: {names}; give more of it")
    return str(alike[0]["id"])


async def show_run(database: Database, name: str) -> RunShown:
    """One run in full.

    Raises:
        RunNotFoundError: There is none of that id, or several.
        StoreError: The store cannot be read now.
    """
    run_id = await find_run(database, name)
    (run,) = await database.rows(database.tables.runs.select().where(database.tables.runs.c.id == run_id))
    calls = await _calls(database, run_id)
    return RunShown(
        summary=RunSummary.of(run),
        app_id=None if run["app_id"] is None else loaded_text(run["app_id"]),
        message_id=None if run["message_id"] is None else loaded_text(run["message_id"]),
        params=loaded_json(run["params"]),
        question_files=loaded_json(run["question_files"]),
        rounds=await _rounds(database, run_id, calls),
        calls=calls[None],
        files=await run_files(database, run_id),
        used=await usage_sum(database, UsageScope(run_id=run_id)),
        events=await _events(database, run_id),
    )


async def run_files(database: Database, run_id: str) -> list[FileShown]:
    """The files that a run sent or linked, without their content.

    Raises:
        StoreError: The store cannot be read now.
    """
    files = database.tables.files
    columns = [column for column in files.c if column.name != "data"]
    query = files.select().with_only_columns(*columns, files.c.data.is_not(None).label("kept"))
    rows = await database.rows(query.where(files.c.run_id == run_id).order_by(files.c.position))
    return [FileShown.of(row) for row in rows]


async def file_content(database: Database, file_id: str) -> bytes | None:
    """The content of a file; None when it was not kept.

    Raises:
        StoreError: The store cannot be read now.
    """
    files = database.tables.files
    rows = await database.rows(files.select().with_only_columns(files.c.data).where(files.c.id == file_id))
    return bytes(rows[0]["data"]) if rows and rows[0]["data"] is not None else None


async def delete_run(database: Database, name: str, *, with_usage: bool = False) -> str:
    """Deletes a run with all its records. Its token counts stay, for the sums of users and conversations.

    Args:
        database: Where it is.
        name: Its id, or the beginning of it.
        with_usage: Whether the token counts go too.

    Returns:
        The run's id.

    Raises:
        RunNotFoundError: There is none of that id, or several.
        RunBusyError: It is still going.
        StoreError: The store cannot be written now.
    """
    run_id = await find_run(database, name)
    if not await _delete(database, [run_id], with_usage=with_usage):
        raise RunBusyError(f"the run {run_id} is still going; cancel it first")
    return run_id


async def delete_runs(database: Database, which: RunFilter, *, with_usage: bool = False) -> int:
    """Deletes runs that have ended, in parts, so that nobody waits long for the store.

    Returns:
        How many there were.

    Raises:
        StoreError: The store cannot be written now; what was deleted before stays so.
    """
    runs = database.tables.runs
    ended = runs.select().with_only_columns(runs.c.id).where(*_conditions(database, which))
    ended = ended.where(runs.c.status != State.RUNNING.value).limit(DELETED_AT_ONCE)
    deleted = 0
    while rows := await database.rows(ended):
        deleted += await _delete(database, [row["id"] for row in rows], with_usage=with_usage)
    return deleted


async def _delete(database: Database, ids: Sequence[str], *, with_usage: bool) -> int:
    tables = database.tables
    async with database.writing() as connection:
        ended = tables.runs.c.status != State.RUNNING.value
        gone = await connection.execute(tables.runs.delete().where(tables.runs.c.id.in_(ids), ended))
        if with_usage and gone.rowcount:
            await connection.execute(tables.usage.delete().where(tables.usage.c.run_id.in_(ids)))
        return gone.rowcount


async def _calls(database: Database, run_id: str) -> dict[str | None, list[CallShown]]:
    calls = database.tables.calls
    found: dict[str | None, list[CallShown]] = defaultdict(list)
    for row in await database.rows(calls.select().where(calls.c.run_id == run_id).order_by(calls.c.position)):
        found[row["round_id"]].append(CallShown.of(row))
    return found


async def _rounds(database: Database, run_id: str, calls: dict[str | None, list[CallShown]]) -> list[RoundShown]:
    rounds = database.tables.rounds
    used = await usage_by(database, "round_id", UsageScope(run_id=run_id))
    rows = await database.rows(rounds.select().where(rounds.c.run_id == run_id).order_by(rounds.c.position))
    return [RoundShown.of(row, used.get(row["id"]), calls[row["id"]]) for row in rows]


async def _events(database: Database, run_id: str) -> int:
    from sqlalchemy import func

    events = database.tables.events
    query = events.select().with_only_columns(func.sum(events.c.count).label("events"))
    (row,) = await database.rows(query.where(events.c.run_id == run_id))
    return int(row["events"] or 0)


def _conditions(database: Database, which: RunFilter) -> "list[ColumnElement[bool]]":
    columns = database.tables.runs.c
    names = ("strategy", "user_id", "conversation_id")
    found = [(columns[name], getattr(which, name)) for name in names]
    conditions = [column == stored_text(value) for column, value in found if value is not None]
    if which.status is not None:
        conditions.append(columns.status == which.status.value)
    if which.before is not None:
        conditions.append(columns.began_at < int(which.before.timestamp() * MICROSECONDS))
    return conditions

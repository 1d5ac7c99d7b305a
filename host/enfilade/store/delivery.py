"""Writes one batch in one transaction. Doing it twice changes nothing: a batch whose end is in doubt is sent again."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from enfilade.store.batch import KEYS, ORDER, Batch, Row, TableName
from enfilade.store.database import Database
from enfilade.store.fault import is_unfit, store_error
from enfilade.store.state import State

if TYPE_CHECKING:
    from sqlalchemy import Executable
    from sqlalchemy.ext.asyncio import AsyncConnection

_log = logging.getLogger(__name__)

Step = tuple["Executable", list[Row]]
"""A statement and the rows it is run for."""


async def deliver(database: Database, batch: Batch) -> None:
    """Writes a batch, whole. A row that can never be written (its run was deleted) is left out and logged.

    Raises:
        StoreError: The store cannot be written now; nothing of the batch is written, or its end is in doubt.
    """
    try:
        try:
            async with database.raw_writing() as connection:
                await _write(connection, database, batch)
        except Exception as error:
            if not is_unfit(error):
                raise
            async with database.raw_writing() as connection:
                await _write_one_by_one(connection, database, batch)
    except Exception as error:
        raise store_error(error, database.place) from error


async def _write(connection: "AsyncConnection", database: Database, batch: Batch) -> None:
    for table in ORDER:
        for statement, rows in _steps(database, batch, table):
            await connection.execute(statement, rows)


async def _write_one_by_one(connection: "AsyncConnection", database: Database, batch: Batch) -> None:
    for table in ORDER:
        for statement, rows in _steps(database, batch, table):
            for row in rows:
                await _try_one(connection, statement, row, table)


async def _try_one(connection: "AsyncConnection", statement: "Executable", row: Row, table: TableName) -> None:
    try:
        async with connection.begin_nested():
            await connection.execute(statement, [row])
    except Exception as error:
        if not is_unfit(error):
            raise
        names = KEYS[table]
        key = ", ".join(str(row.get("key_value", row.get(name))) for name in names)
        _log.error("a record of table %s (%s) was left out: %s", table, key, type(error).__name__)


def _steps(database: Database, batch: Batch, table: TableName) -> Iterator[Step]:
    target = getattr(database.tables, table)
    if rows := batch.inserts(table):
        yield database.insert(target).on_conflict_do_nothing(), rows
    for columns, changed in _by_columns(batch.changes(table)).items():
        yield _update(target, table, columns), changed


def _by_columns(changes: list[tuple[object, Row]]) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for key, row in changes:
        groups.setdefault(tuple(row), []).append({"key_value": key, **row})
    return groups


def _update(target: Any, table: TableName, columns: tuple[str, ...]) -> "Executable":
    """An update by key; a record that has its final state keeps it."""
    from sqlalchemy import bindparam

    (key,) = KEYS[table]
    statement = target.update().where(target.c[key] == bindparam("key_value"))
    if "status" in target.c:
        statement = statement.where(target.c.status == State.RUNNING.value)
    return statement.values({name: bindparam(name) for name in columns})  # type: ignore[no-any-return]  # a table found by name is Any

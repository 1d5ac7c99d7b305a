"""Writes one batch in one transaction. Doing it twice changes nothing: a batch whose end is in doubt is sent again."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from enfilade.store.batch import KEYS, ORDER, Batch, Row, TableName
from enfilade.store.database import Database
from enfilade.store.fault import is_unfit, store_error
from enfilade.store.statements import Statement

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

_log = logging.getLogger(__name__)


class Step(NamedTuple):
    """A statement and the rows it is run for."""

    table: TableName
    statement: Statement
    rows: list[Row]


async def deliver(database: Database, batch: Batch) -> None:
    """Writes a batch, whole. A row that can never be written (its run was deleted) is left out and logged.

    Raises:
        StoreError: The store cannot be written now; nothing of the batch is written, or its end is in doubt.
    """
    steps = list(_steps(database, batch))
    try:
        try:
            await _write(database, steps)
        except Exception as error:
            if not is_unfit(error):
                raise
            async with database.raw_writing() as connection:
                await _write_one_by_one(connection, steps)
    except Exception as error:
        raise store_error(error, database.place) from error


async def _write(database: Database, steps: list[Step]) -> None:
    if database.file_writer is not None:
        await database.file_writer.write([(step.statement.text, step.rows) for step in steps])
        return
    async with database.raw_writing() as connection:
        for step in steps:
            await connection.execute(step.statement.executable, step.rows)


async def _write_one_by_one(connection: "AsyncConnection", steps: list[Step]) -> None:
    for step in steps:
        for row in step.rows:
            await _try_one(connection, step, row)


async def _try_one(connection: "AsyncConnection", step: Step, row: Row) -> None:
    try:
        async with connection.begin_nested():
            await connection.execute(step.statement.executable, [row])
    except Exception as error:
        if not is_unfit(error):
            raise
        names = KEYS[step.table]
        key = ", ".join(str(row.get("key_value", row.get(name))) for name in names)
        _log.error("a record of table %s (%s) was left out: %s", step.table, key, type(error).__name__)


def _steps(database: Database, batch: Batch) -> Iterator[Step]:
    statements = database.statements
    for table in ORDER:
        for columns, rows in _by_columns(batch.inserts(table)).items():
            yield Step(table, statements.get("insert", table, columns), rows)
        changes = [{**row, "key_value": key} for key, row in batch.changes(table)]
        for columns, rows in _by_columns(changes).items():
            yield Step(table, statements.get("update", table, columns[:-1]), rows)


def _by_columns(rows: list[Row]) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row), []).append(row)
    return groups

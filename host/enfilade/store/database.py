"""One open database: transactions for reading and for writing, its tables, its clock."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from enfilade.store.clock import CLOCK, UP_SINCE, now
from enfilade.store.engine import WRITES, postgres_engine, sqlite_engine
from enfilade.store.errors import StoreError, Trouble
from enfilade.store.fault import store_error
from enfilade.store.file_writer import FileWriter
from enfilade.store.migration import check_known, found_revision, migrate
from enfilade.store.schema import REVISIONS, Tables, make_tables
from enfilade.store.settings import StoreSettings
from enfilade.store.sqlite_file import prepare_file
from enfilade.store.statements import Statements

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select, Table
    from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

Result = TypeVar("Result")

Execute = Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]]
"""Runs a statement with values in the places of `$1`, `$2`, ..., and gives the rows."""

Record = Mapping[Any, Any]
"""A row as it was read, by column."""

CLOSE_SECONDS = 5.0
"""How long what is under way may take when the database is closed."""

WAL_TRIES = 50
WAL_PAUSE = 0.1
"""How often, and after how many seconds, the switch to WAL is tried while other hosts have the file locked."""


class Database:
    """An open database. `open` gives one.

    Args:
        engine: Its connections.
        tables: Its tables.
        place: What it is called in texts, without a password.
        file: The SQLite file; None for a server.

    Attributes:
        statements: What batches are written with.
        file_writer: Writes batches to the file; None for a server.
    """

    def __init__(self, engine: "AsyncEngine", tables: Tables, place: str, file: Path | None = None) -> None:
        self.tables = tables
        self.place = place
        self.statements = Statements(tables, postgres=engine.dialect.name == "postgresql")
        self.file_writer = None if file is None else FileWriter(file)
        self._engine = engine
        self._unfinished: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(cls, settings: StoreSettings, *, make: bool = True) -> Self:
        """Opens a database and brings its schema forward.

        Args:
            settings: Where it is.
            make: Whether to make a SQLite file that is not there; a listing has no reason to.

        Raises:
            StoreError: It cannot be opened, or its schema is of a newer version; the text says what to do.
        """
        await asyncio.to_thread(_load_libraries)
        database = cls(*_engine(settings, make=make))
        try:
            await database._migrate()
        except BaseException:
            await database.aclose()
            raise
        return database

    @property
    def is_postgres(self) -> bool:
        """Whether it is a PostgreSQL server; else it is a SQLite file."""
        return self._engine.dialect.name == "postgresql"

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator["AsyncConnection", None]:
        """A transaction that only reads.

        Raises:
            StoreError: The database cannot be read now.
        """
        async with self._transaction(writes=False) as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator["AsyncConnection", None]:
        """A transaction that is committed at its end, and undone when an error leaves it.

        Raises:
            StoreError: The database cannot be written now.
        """
        async with self._transaction(writes=True) as connection:
            yield connection

    @asynccontextmanager
    async def raw_writing(self) -> AsyncGenerator["AsyncConnection", None]:
        """`writing` that lets the driver's exceptions pass as they are."""
        async with self._engine.connect() as connection, _begun(connection, writes=True):
            yield connection

    async def transact(self, work: Callable[[Execute], Result]) -> Result:
        """Does work in one writing transaction, with as few crossings to the database as it has statements.

        Args:
            work: What to do. It is given what runs a statement: a text with `$1`, `$2`, ... and their values; it gives
                the rows. It may run in another thread.

        Raises:
            StoreError: The database cannot be written now.
        """
        if self.file_writer is None:
            async with self.writing() as connection:
                return await connection.run_sync(lambda sync: work(partial(_driver_rows, sync)))
        try:
            return await self.file_writer.transact(lambda connection: work(partial(_file_rows, connection)))
        except sqlite3.Error as error:
            raise store_error(error, self.place) from error

    async def rows(self, query: "Select[Any]") -> list[Record]:
        """The rows that a query finds.

        Raises:
            StoreError: The database cannot be read now.
        """
        async with self.reading() as connection:
            return list((await connection.execute(query)).mappings())

    def insert(self, table: "Table") -> "PostgresInsert | SqliteInsert":
        """An insert that can be told what to do with rows that are there already."""
        if self.is_postgres:
            from sqlalchemy.dialects.postgresql import insert as postgres_insert

            return postgres_insert(table)
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert(table)

    async def clock(self, connection: "AsyncConnection") -> int:
        """The time by which signs of life are judged: the server's, or this machine's for a file."""
        if not self.is_postgres:
            return now()
        return int((await connection.exec_driver_sql(CLOCK)).scalar_one())

    async def up_since(self, connection: "AsyncConnection") -> int:
        """Since when signs of life could be left: the server's start; a file is always there."""
        return int((await connection.exec_driver_sql(UP_SINCE)).scalar_one()) if self.is_postgres else 0

    async def finish(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Does work to its end though the caller is cancelled: a statement cut off midway costs its connection."""
        return await asyncio.shield(self.begin(work))

    def begin(self, work: Coroutine[Any, Any, Result]) -> "asyncio.Task[Result]":
        """Begins work that is to be done before the database is closed, though nobody waits for it."""
        task = asyncio.create_task(work)
        self._unfinished.add(task)
        task.add_done_callback(self._forget)
        return task

    async def aclose(self) -> None:
        """Closes all connections, when what was begun with `finish` is done."""
        if self._unfinished:
            _, left = await asyncio.wait(self._unfinished, timeout=CLOSE_SECONDS)
            for task in left:
                task.cancel()
        if self.file_writer is not None:
            self.file_writer.close()
        await self._engine.dispose()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._unfinished.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has seen it; nobody did when the caller was cancelled

    @asynccontextmanager
    async def _transaction(self, *, writes: bool) -> AsyncGenerator["AsyncConnection", None]:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            connection = await self._engine.connect()
        except Exception as error:
            raise store_error(error, self.place) from error
        try:
            async with _begun(connection, writes=writes):
                yield connection
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            raise store_error(error, self.place) from error
        finally:
            await connection.close()

    async def _migrate(self) -> None:
        if not self.is_postgres:
            await self._use_write_ahead_log()
        async with self.reading() as connection:
            revision = await connection.run_sync(found_revision)
        check_known(revision)
        if revision != REVISIONS[-1]:
            async with self.writing() as connection:
                await connection.run_sync(migrate)

    async def _use_write_ahead_log(self) -> None:
        """Switches to WAL, so that readers and the writer do not wait for each other; it lasts in the file."""
        for left in reversed(range(WAL_TRIES)):
            try:
                async with self._engine.connect() as connection:
                    raw = await connection.get_raw_connection()
                    driver: Any = raw.driver_connection
                    await (await driver.execute("PRAGMA journal_mode = WAL")).close()
                return
            except Exception as error:
                fault = store_error(error, self.place)
                if fault.trouble is not Trouble.LOCKED or not left:
                    raise fault from error
            await asyncio.sleep(WAL_PAUSE)


def _driver_rows(connection: "Connection", statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    found = connection.exec_driver_sql(statement, values)
    return [tuple(row) for row in found] if found.returns_rows else []


def _file_rows(connection: sqlite3.Connection, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return connection.execute(statement, {str(place): value for place, value in enumerate(values, start=1)}).fetchall()


@asynccontextmanager
async def _begun(connection: "AsyncConnection", *, writes: bool) -> AsyncGenerator[None, None]:
    ready = await connection.execution_options(**{WRITES: writes})
    async with ready.begin():
        yield


def _load_libraries() -> None:
    """Imports SQLAlchemy in a thread: it takes most of a second, in which the loop goes on."""
    import sqlalchemy.ext.asyncio  # noqa: F401 - for the import alone


def _engine(settings: StoreSettings, *, make: bool) -> tuple["AsyncEngine", Tables, str, Path | None]:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    if (file := settings.file) is not None:
        prepare_file(file, named=bool(settings.url), make=make)
        return sqlite_engine(file), make_tables(), str(file), file
    try:
        url = make_url(settings.url)
    except (ArgumentError, ValueError):
        raise StoreError(
            "[store] url cannot be read: expected postgresql+asyncpg://USER:PASSWORD@HOST:PORT/DATABASE "
            "(write @ : / in a password as %40 %3A %2F)",
            Trouble.REFUSED,
        ) from None
    place = url.set(drivername="postgresql").render_as_string(hide_password=True)
    return postgres_engine(url), make_tables(), place, None

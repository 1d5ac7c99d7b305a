"""Makes the connections: to a SQLite file, or to a PostgreSQL server."""

import sqlite3
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enfilade.settings.current_folder import absolute
from enfilade.store.errors import StoreError, Trouble
from enfilade.store.schema import POSTGRES_SCHEMA

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.engine import URL
    from sqlalchemy.ext.asyncio import AsyncEngine

BUSY_SECONDS = 5.0
"""How long SQLite waits for another program's lock."""

CONNECT_SECONDS = 10.0

COMMAND_SECONDS = 60.0
"""How long PostgreSQL may take for one statement before the connection counts as gone."""

WRITES = "enfilade_writes"
"""The execution option of a transaction that will write."""


def sqlite_engine(file: Path) -> "AsyncEngine":
    """Connections to an existing SQLite file; they wait for locks, hold foreign keys, and begin writing at once."""
    from sqlalchemy import URL, event
    from sqlalchemy.ext.asyncio import create_async_engine

    url = URL.create("sqlite+aiosqlite", database=absolute(file).as_uri(), query={"mode": "rw", "uri": "true"})
    engine = create_async_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_size=4, hide_parameters=True)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def sqlite_connection(file: Path) -> sqlite3.Connection:
    """One connection to an existing SQLite file, set up like the others; it may be handed from thread to thread."""
    address = f"{absolute(file).as_uri()}?mode=rw"
    connection = sqlite3.connect(address, timeout=BUSY_SECONDS, uri=True, check_same_thread=False)
    try:
        _prepare_sqlite(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare_sqlite(connection: Any, _record: object = None) -> None:
    connection.isolation_level = None  # the driver's own BEGIN comes too late: two writers would deadlock
    cursor = connection.cursor()
    for pragma in ("foreign_keys = ON", "synchronous = NORMAL", "journal_size_limit = 67108864"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: "Connection") -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def postgres_engine(url: "URL") -> "AsyncEngine":
    """Connections to a PostgreSQL server; the tables are in a schema of their own.

    Raises:
        StoreError: The driver is not installed.
    """
    if find_spec("asyncpg") is None:
        raise StoreError("PostgreSQL needs a driver: install enfilade[postgres]", Trouble.REFUSED)
    from sqlalchemy.ext.asyncio import create_async_engine

    settings = {"search_path": POSTGRES_SCHEMA, "application_name": "enfilade"}
    arguments = {"timeout": CONNECT_SECONDS, "command_timeout": COMMAND_SECONDS, "server_settings": settings}
    return create_async_engine(
        url.set(drivername="postgresql+asyncpg"), connect_args=arguments, pool_pre_ping=True, hide_parameters=True
    )

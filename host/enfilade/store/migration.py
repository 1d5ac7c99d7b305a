"""Brings a database to the schema of this version, and refuses one of a newer version."""

from pathlib import Path
from typing import TYPE_CHECKING

from enfilade.store.errors import StoreError, Trouble
from enfilade.store.schema import POSTGRES_SCHEMA, REVISIONS, VERSION_TABLE

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOCK = 0x656E66696C616465  # the bytes of "enfilade": one lock for all who migrate the same database


def found_revision(connection: "Connection") -> str | None:
    """The schema's revision; None for a database without our tables.

    Raises:
        StoreError: It has tables of the same names that are not ours.
    """
    from sqlalchemy import inspect

    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        if {"runs", "rounds", "events"} & tables:
            raise StoreError(
                "the database has tables named like ours that are not: expected an empty one or one with a table "
                f"{VERSION_TABLE}; name another database in [store] url",
                Trouble.NOT_A_STORE,
            )
        return None
    version = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()  # noqa: S608 - a constant
    return None if version is None else str(version)


def check_known(revision: str | None) -> None:
    """Refuses a schema that this version does not know.

    Raises:
        StoreError: It is newer.
    """
    if revision is not None and revision not in REVISIONS:
        raise StoreError(
            f"the records are of schema {revision}, which a newer Enfilade made; this one knows schemas up to "
            f"{REVISIONS[-1]}. Update Enfilade, or name another place in [store] url",
            Trouble.NEWER,
        )


def migrate(connection: "Connection") -> None:
    """Brings the tables forward, in the connection's open transaction; does nothing when they are there.

    Several hosts may do this at once: SQLite's transaction holds the write lock from its start, in PostgreSQL an
    advisory lock is taken.

    Raises:
        StoreError: The schema is newer than this version, or the tables are not ours.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        _make_schema(connection)
    revision = found_revision(connection)
    check_known(revision)
    if revision != REVISIONS[-1]:
        _upgrade(connection)


def _make_schema(connection: "Connection") -> None:
    """Makes the schema, unless it is there: then nobody needs the privilege to make one."""
    there = connection.exec_driver_sql(
        f"SELECT 1 FROM pg_namespace WHERE nspname = '{POSTGRES_SCHEMA}'"  # noqa: S608 - a constant
    ).scalar()
    if not there:
        connection.exec_driver_sql(f"CREATE SCHEMA {POSTGRES_SCHEMA}")


def _upgrade(connection: "Connection") -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")

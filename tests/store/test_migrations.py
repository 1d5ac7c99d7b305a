"""The schema: made, found again, brought forward by many at once, refused when it is newer."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from enfilade.store import migration
from enfilade.store.database import Database
from enfilade.store.errors import StoreError, Trouble
from enfilade.store.runs import list_runs
from enfilade.store.schema import REVISIONS, VERSION_TABLE, make_tables
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from tests.support.postgres import PostgresServer

OPENS = """
import asyncio, sys
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.store import Store
async def main():
    async with await Store.open(StoreSettings(url=sys.argv[1])) as store:
        await store.records.run_began(RunStart(sys.argv[2], "fc", "Hello?"))
sys.stdin.readline()
asyncio.run(main())
"""


async def sql(settings: StoreSettings, *statements: str) -> None:
    """Changes the database behind the store's back."""
    database = await Database.open(settings)
    async with database.writing() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    await database.aclose()


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
    return list(compare_metadata(context, make_tables().metadata))


async def test_the_migrations_make_the_tables_that_the_code_uses(store: Store) -> None:
    async with store.database.reading() as connection:
        assert await connection.run_sync(differences) == []


def test_the_code_knows_the_newest_revision_that_there_is() -> None:
    folder = Path(migration.__file__).parent / "migrations"
    config = Config()
    config.set_main_option("script_location", str(folder))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert tuple(reversed([script.revision for script in scripts.walk_revisions()])) == REVISIONS


async def test_a_store_is_opened_again_with_what_it_has(settings: StoreSettings) -> None:
    for run_id in ("run1", "run2"):
        async with await Store.open(settings) as store:
            await store.records.run_began(RunStart(run_id, "fc", "Hello?"))
    database = await Database.open(settings, make=False)
    assert [run.id for run in await list_runs(database)] == ["run2", "run1"]
    await database.aclose()


async def test_a_newer_schema_is_refused_and_left_alone(settings: StoreSettings) -> None:
    async with await Store.open(settings):
        pass
    await sql(settings, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    for opens in (Store.open, Database.open):
        with pytest.raises(StoreError, match=r"schema 9999, which a newer Enfilade made.*Update Enfilade") as caught:
            await opens(settings)
        assert caught.value.trouble is Trouble.NEWER
        assert caught.value.details == {"store": "newer"}


async def test_tables_of_somebody_else_are_refused(file_settings: StoreSettings) -> None:
    async with await Store.open(file_settings):
        pass
    await sql(file_settings, f"DROP TABLE {VERSION_TABLE}")
    with pytest.raises(StoreError, match="tables named like ours that are not") as caught:
        await Store.open(file_settings)
    assert caught.value.trouble is Trouble.NOT_A_STORE


async def test_in_postgresql_other_tables_of_the_same_names_do_not_matter(server: PostgresServer) -> None:
    url = await server.database()
    async with server.session(url) as session:
        await session.execute(
            "CREATE TABLE public.runs (id int); CREATE TABLE public.schema_version (version_num text)"
        )
        async with await Store.open(StoreSettings(url=url)) as store:
            await store.records.run_began(RunStart("run1", "fc", "Hello?"))
            await store.records.flush()
            assert await session.fetchval("SELECT count(*) FROM enfilade.runs") == 1
            assert await session.fetchval("SELECT count(*) FROM public.runs") == 0
        await session.execute("DROP TABLE public.runs; DROP TABLE public.schema_version")


async def test_many_hosts_of_one_process_open_a_new_store_at_once(settings: StoreSettings) -> None:
    stores = await asyncio.gather(*(Store.open(settings) for _ in range(8)))
    await asyncio.gather(*(store.records.run_began(RunStart(f"run{n}", "fc", "?")) for n, store in enumerate(stores)))
    await asyncio.gather(*(store.records.flush() for store in stores))
    assert len(await list_runs(stores[0].database)) == 8
    await asyncio.gather(*(store.aclose() for store in stores))


async def test_two_processes_open_a_new_store_at_once(settings: StoreSettings) -> None:
    command = [sys.executable, "-W", "error", "-c", OPENS, settings.url]
    hosts = [
        await asyncio.create_subprocess_exec(*command, f"run{n}", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for n in range(2)
    ]
    ends = await asyncio.gather(*(host.communicate(b"\n") for host in hosts))
    assert [re.sub(rb".*were closed as interrupted.*\n", b"", errors) for _, errors in ends] == [b""] * 2
    database = await Database.open(settings)
    assert {run.id for run in await list_runs(database)} == {f"run{n}" for n in range(2)}
    await database.aclose()


def test_the_hosts_import_stays_light() -> None:
    names = ["sqlalchemy", "alembic", "aiosqlite", "asyncpg", "platformdirs"]
    script = f"import sys, enfilade.store.store, enfilade.store.export\nprint([n for n in {names} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n"

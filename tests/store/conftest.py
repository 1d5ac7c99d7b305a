"""What the store's tests share: each body runs on a SQLite file and on a real PostgreSQL server."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from enfilade.store.settings import StoreSettings
from enfilade.store.store import Store
from tests.support.postgres import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One server for all tests of this process; a test that stops it starts it again."""
    with postgres_server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
async def settings(request: pytest.FixtureRequest, tmp_path: Path) -> StoreSettings:
    """A new, empty place."""
    if request.param == "sqlite":
        return StoreSettings(url=f"sqlite:///{tmp_path}/records.db")
    running: PostgresServer = request.getfixturevalue("server")
    return StoreSettings(url=await running.database())


@pytest.fixture
def file_settings(tmp_path: Path) -> StoreSettings:
    """A new SQLite file, for what only concerns files."""
    return StoreSettings(url=f"sqlite:///{tmp_path}/records.db")


@pytest.fixture
async def store(settings: StoreSettings) -> AsyncIterator[Store]:
    """An open store."""
    async with await Store.open(settings) as opened:
        yield opened


@pytest.fixture
async def file_store(file_settings: StoreSettings) -> AsyncIterator[Store]:
    """An open store in a file, for what has nothing to do with the database."""
    async with await Store.open(file_settings) as opened:
        yield opened

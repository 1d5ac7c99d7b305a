"""Parts that the tests of records and memory on the command line share."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.enfilade_command import Enfilade
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.recorded_command import Recorded


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in an empty folder."""
    runtime = Path(tempfile.mkdtemp(prefix="cli-test-", dir="/tmp"))
    yield Enfilade(tmp_path, runtime)
    shutil.rmtree(runtime)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One PostgreSQL server for all tests of this process."""
    with postgres_server() as running:
        yield running


@pytest.fixture
def recorded(enfilade: Enfilade) -> Recorded:
    """The command with a SQLite file that its configuration names."""
    url = f"sqlite:///{enfilade.folder}/records.db"
    enfilade.write("enfilade.toml", f'[store]\nurl = "{url}"\n')
    return Recorded(enfilade, url)


@pytest.fixture(params=["sqlite", "postgres"])
async def anywhere(request: pytest.FixtureRequest, enfilade: Enfilade) -> Recorded:
    """The command with a SQLite file, and with a PostgreSQL server that its environment names."""
    if request.param == "sqlite":
        found: Recorded = request.getfixturevalue("recorded")
        return found
    running: PostgresServer = request.getfixturevalue("server")
    url = await running.database()
    enfilade.environment["ENFILADE_STORE__URL"] = url
    return Recorded(enfilade, url)

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from enfilade.candidate import Candidate, Isolation, Offer
from enfilade.config import Config
from enfilade.host import Host
from tests.support import host_strategies

FOLDER = str(Path(host_strategies.__file__).parent)
NAMES = ("Echo", "Files", "Waits", "Breaks", "Remembers", "Misfit")
OFFERS = tuple(Offer(name.lower(), f"host_strategies:{name}") for name in NAMES)


@pytest.fixture(params=["process", "inprocess"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    chosen: Isolation = request.param
    return chosen


@pytest.fixture
def candidate(isolation: Isolation) -> Candidate:
    return Candidate(plugin="harbour", origin="the tests", offers=OFFERS, paths=(FOLDER,), isolation=isolation)


@pytest_asyncio.fixture
async def host(candidate: Candidate) -> AsyncIterator[Host]:
    async with Host(Config(), candidates=[candidate]) as opened:
        yield opened

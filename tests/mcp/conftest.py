from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.leftovers import nothing_left
from tests.support.mcp_setup import Record


@pytest_asyncio.fixture(autouse=True)
async def _nothing_left() -> AsyncIterator[None]:
    """Whatever goes wrong with a server, nothing of it is left after a test."""
    async with nothing_left():
        yield


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Where a server keeps what it is sent."""
    return Record(tmp_path / "sent.jsonl")

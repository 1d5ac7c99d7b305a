"""A program that is killed while it adds leaves what was there before."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.knowledge.bases import added, content, found

ROOT = Path(__file__).parents[2]
SECONDS = 30


@asynccontextmanager
async def half_added(file: Path, folder: Path) -> AsyncIterator[None]:
    """Another program that has half of the files in; it is killed at the end."""
    words = (sys.executable, "-m", "tests.knowledge.adding_process", str(file), str(folder))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, cwd=ROOT, stdin=pipe, stdout=pipe)
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), SECONDS) == b"half\n"
        yield
    finally:
        process.kill()
        await process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    write(folder, "old")
    return folder


def write(folder: Path, word: str) -> None:
    for number in range(10):
        text = "\n\n".join(f"paragraph {paragraph} {word} {'x ' * 400}" for paragraph in range(40))
        (folder / f"{number}.txt").write_text(text)


async def test_the_old_state_holds_during_and_after(folder: Path, tmp_path: Path) -> None:
    base = tmp_path / "docs.db"
    await added(base, folder)
    before = content(base)
    write(folder, "fresh")
    async with half_added(base, folder):
        assert await found(base, "fresh") == []
        assert len(await found(base, "old")) == 5
    assert content(base) == before
    changes = await added(base, folder)
    assert (len(changes.replaced), changes.documents, changes.parts) == (10, 10, 400)
    assert await found(base, "old") == []


async def test_of_a_new_base_nothing_is_left(folder: Path, tmp_path: Path) -> None:
    base = tmp_path / "docs.db"
    async with half_added(base, folder):
        pass
    with pytest.raises(AssertionError):
        content(base)
    assert (await added(base, folder)).documents == 10

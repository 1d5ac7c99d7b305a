"""A SQLite file that is on a full disk, read-only, locked, damaged, or no store at all."""

import asyncio
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from enfilade.outcome import Status
from enfilade.store import engine
from enfilade.store.database import Database
from enfilade.store.errors import StoreError, Trouble
from enfilade.store.fault import store_error
from enfilade.store.runs import list_runs, show_run
from enfilade.store.settings import StoreSettings, default_file
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade.store.store import Store
from enfilade_sdk.messages import json_message
from tests.store.other_host import opened_without_privileges, other_host


def url_of(path: Path) -> StoreSettings:
    return StoreSettings(url=f"sqlite:///{path}")


@contextmanager
def full_disk(file: Path) -> Iterator[None]:
    """No file of this process may grow beyond a little more than the store's have now."""
    largest = max(found.stat().st_size for found in file.parent.glob(f"{file.name}*"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 16_384, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_on_a_full_disk_a_run_goes_on_and_its_records_arrive_when_there_is_room(tmp_path: Path) -> None:
    async with await Store.open(url_of(tmp_path / "records.db")) as store:
        record = await store.records.run_began(RunStart("run1", "fc", "Hello?"))
        await store.records.flush()
        with full_disk(tmp_path / "records.db"):
            for number in range(3):
                await record.event(json_message(["x" * 100_000, number]))
            with pytest.raises(StoreError, match="the disk refuses to write") as caught:
                await store.records.flush()
            assert caught.value.trouble is Trouble.FULL
            await record.event(json_message(["on we go"]))
            record.ended(Status.SUCCEEDED)
        await store.records.flush()
        found = await show_run(store.database, "run1")
    assert (found.summary.status, found.events) == (State.SUCCEEDED, 4)


async def test_on_a_full_disk_a_run_fails_when_it_is_to_and_that_arrives_too(tmp_path: Path) -> None:
    settings = url_of(tmp_path / "records.db").model_copy(update={"on_failure": "fail"})
    async with await Store.open(settings) as store:
        record = await store.records.run_began(RunStart("run1", "fc", "Hello?"))
        await record.settled()
        with full_disk(tmp_path / "records.db"):
            await record.event(json_message(["x" * 300_000]))
            with pytest.raises(StoreError, match="the disk refuses to write") as caught:
                await record.settled()
            with pytest.raises(StoreError, match="the disk refuses to write"):
                await record.event(json_message(["no more"]))
            with pytest.raises(StoreError, match="the disk refuses to write"):
                await store.records.run_began(RunStart("run2", "fc", "Hello?"))
            record.ended(Status.FAILED, error=caught.value)
        await store.records.flush()
        (found,) = await list_runs(store.database)
    assert (found.id, found.status) == ("run1", State.FAILED)
    assert str(tmp_path / "records.db") in (found.error or "")


def test_sqlites_word_for_a_full_disk_is_known() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    error = store_error(caught.value, "records.db")
    assert error.trouble is Trouble.FULL
    assert error.message == (
        "the store records.db cannot be used: the disk is full; free some space, or name another place in [store] url"
    )


async def test_a_read_only_file_is_refused_with_its_name(tmp_path: Path) -> None:
    async with await Store.open(url_of(tmp_path / "records.db")):
        pass
    (tmp_path / "records.db").chmod(0o400)
    said = opened_without_privileges(f"sqlite:///{tmp_path}/records.db")
    assert said.startswith(f"read_only the store {tmp_path}/records.db cannot be used: it is read-only; make")


def test_a_new_file_in_a_read_only_folder_is_refused_with_its_name(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    said = opened_without_privileges(f"sqlite:///{tmp_path}/records.db")
    tmp_path.chmod(0o700)
    assert said.startswith(f"refused the store {tmp_path}/records.db cannot be made: Permission denied (or name")


async def test_a_locked_file_is_waited_for_and_then_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.05)
    settings = url_of(tmp_path / "records.db")
    async with await Store.open(settings):
        pass
    async with other_host("lock", settings.url):
        with pytest.raises(StoreError, match="another program holds it locked") as caught:
            await Store.open(settings)
        assert caught.value.trouble is Trouble.LOCKED
    async with await Store.open(settings):
        pass


async def test_records_wait_while_the_file_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.05)
    settings = url_of(tmp_path / "records.db")
    async with await Store.open(settings) as store:
        async with other_host("lock", settings.url):
            record = await store.records.run_began(RunStart("run1", "fc", "Hello?"))
            with pytest.raises(StoreError, match="locked"):
                await store.records.flush()
            record.ended(Status.SUCCEEDED)
            assert store.records.waiting == 2
            assert await list_runs(store.database) == []
        await store.records.flush()
        assert store.records.waiting == 0
        assert [run.status for run in await list_runs(store.database)] == [State.SUCCEEDED]


@pytest.mark.parametrize("content", [b"These are my notes.\n" * 100, b"x"], ids=["notes", "short"])
async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    with pytest.raises(StoreError, match="the file is no SQLite database; name another one") as caught:
        await Store.open(url_of(file))
    assert caught.value.trouble is Trouble.NOT_A_STORE
    assert file.read_bytes() == content


async def test_a_damaged_file_is_named_as_such(tmp_path: Path) -> None:
    file = tmp_path / "records.db"
    async with await Store.open(url_of(file)):
        pass
    data = bytearray(file.read_bytes())
    data[4096:8192] = b"\xff" * 4096
    file.write_bytes(data)
    with pytest.raises(StoreError, match="the file is damaged; move it away") as caught:
        await Store.open(url_of(file))
    assert caught.value.trouble is Trouble.DAMAGED


async def test_a_path_that_is_too_long_for_sqlite_is_said_to_be(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["deep" * 20] * 7)
    folder.mkdir(parents=True)
    with pytest.raises(StoreError, match=r"its path has \d{3} bytes, and SQLite takes 500 at most; name a shorter one"):
        await Store.open(url_of(folder / "records.db"))


async def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be made: its folder does not exist; make it"):
        await Store.open(url_of(tmp_path / "missing" / "records.db"))
    assert not (tmp_path / "missing").exists()


async def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be made: it is a folder; name a file in it"):
        await Store.open(url_of(tmp_path))


async def test_a_listing_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there are no records yet: .*records.db does not exist; runs make it"):
        await Database.open(url_of(tmp_path / "records.db"), make=False)
    assert not (tmp_path / "records.db").exists()


async def test_the_default_file_is_in_the_users_data_folder_and_nobody_elses_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENFILADE_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    async with await Store.open():
        file = default_file()
        assert file.parent.parent == tmp_path / "data"
        assert [oct(found.stat().st_mode)[-3:] for found in (file.parent, *file.parent.iterdir())] == ["700"] + 3 * [
            "600"
        ]


@pytest.mark.parametrize("name", ["a b#c?d=e%20f.db", "ü 数据.db", "x" * 200])
async def test_odd_names_are_names_of_files(tmp_path: Path, name: str) -> None:
    async with await Store.open(url_of(tmp_path / name)):
        assert (tmp_path / name).exists()


async def test_reading_does_not_wait_for_writing_nor_writing_for_reading(tmp_path: Path) -> None:
    async with await Store.open(url_of(tmp_path / "records.db")) as store:
        await store.records.run_began(RunStart("run1", "fc", "Hello?"))
        await store.records.flush()
        runs = store.database.tables.runs
        async with asyncio.timeout(engine.BUSY_SECONDS - 1), store.database.reading() as reading:
            assert len((await reading.execute(runs.select())).all()) == 1
            await store.records.run_began(RunStart("run2", "fc", "Hello?"))
            await store.records.flush()
            assert len((await reading.execute(runs.select())).all()) == 1
            assert len(await list_runs(store.database)) == 2

"""Batches: bounded, in time, delivered once however often they are sent, and no row holds up the others."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager

import pytest

from enfilade.outcome import Status
from enfilade.store.batch import ORDER, Batch
from enfilade.store.delivery import deliver
from enfilade.store.errors import StoreError
from enfilade.store.masking import Masking
from enfilade.store.pen import Pen
from enfilade.store.run_record import RunRecord
from enfilade.store.runs import list_runs, show_run
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade.store.store import Store
from enfilade.store.writer import Writer
from enfilade_sdk.messages import json_message, text_message
from enfilade_sdk.prompts import AssistantMessage, ModelRequest, ModelResult, ToolRequest, ToolResult, UserMessage

SECONDS = 20
ASKS = ModelRequest((UserMessage(content="Hello?"),))


@contextmanager
def locked(settings: StoreSettings) -> Iterator[None]:
    """Nobody else can write the file meanwhile."""
    assert settings.file is not None
    with closing(sqlite3.connect(settings.file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


async def begun(store: Store, run_id: str = "run1") -> RunRecord:
    return await store.records.run_began(RunStart(run_id, "fc", "Hello?"))


async def arrived(store: Store, count: int) -> None:
    """Waits, for a bounded time, until so many runs are in the store."""
    for _ in range(SECONDS * 200):
        if len(await list_runs(store.database)) >= count:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("the records did not arrive")


@pytest.fixture
async def slow_store(file_settings: StoreSettings) -> AsyncIterator[Store]:
    """A store with little room."""
    async with await Store.open(file_settings.model_copy(update={"buffer_records": 10})) as store:
        yield store


async def test_records_arrive_by_themselves(store: Store) -> None:
    record = await begun(store)
    await arrived(store, 1)
    record.ended(Status.SUCCEEDED)
    await begun(store, "run2")
    await arrived(store, 2)
    assert (await show_run(store.database, "run1")).summary.status is State.SUCCEEDED


async def test_a_flush_does_not_wait_for_the_interval(settings: StoreSettings) -> None:
    async with await Store.open(settings.model_copy(update={"interval": 60})) as store:
        for number in range(5):
            await begun(store, f"run{number}")
            async with asyncio.timeout(SECONDS):
                await store.records.flush()
        assert len(await list_runs(store.database)) == 5


async def test_a_large_batch_does_not_wait_for_the_interval(file_settings: StoreSettings) -> None:
    changes = {"interval": 60, "buffer_records": 40}
    async with await Store.open(file_settings.model_copy(update=changes)) as store:
        for number in range(11):
            await begun(store, f"run{number}")
        await arrived(store, 11)


async def test_a_flush_of_nothing_and_many_flushes_at_once_are_fine(store: Store) -> None:
    await store.records.flush()
    records = await asyncio.gather(*(begun(store, f"run{number}") for number in range(20)))
    await asyncio.gather(*(store.records.flush() for _ in range(20)))
    assert store.records.waiting == 0
    for record in records:
        record.ended(Status.SUCCEEDED)
    await asyncio.gather(*(store.records.flush() for _ in range(5)))
    assert {run.status for run in await list_runs(store.database)} == {State.SUCCEEDED}


async def test_closing_writes_what_waits(file_settings: StoreSettings) -> None:
    async with await Store.open(file_settings.model_copy(update={"interval": 60})) as store:
        (await begun(store)).ended(Status.SUCCEEDED)
    async with await Store.open(file_settings) as store:
        assert [run.status for run in await list_runs(store.database)] == [State.SUCCEEDED]


async def test_a_run_waits_for_a_slow_store_and_what_ends_does_not(
    slow_store: Store, file_settings: StoreSettings
) -> None:
    record = await begun(slow_store)
    await slow_store.records.flush()
    with locked(file_settings):
        for number in range(10):
            await record.event(json_message([number]))
        more = asyncio.create_task(record.event(json_message([10])))
        other = asyncio.create_task(begun(slow_store, "run2"))
        done, _ = await asyncio.wait([more, other], timeout=0.1)
        assert done == set()
        assert slow_store.records.waiting == 10
        began = time.monotonic()
        record.ended(Status.CANCELLED)
        assert time.monotonic() - began < 1
    await asyncio.wait_for(asyncio.gather(more, other), SECONDS)
    await slow_store.records.flush()
    found = await show_run(slow_store.database, "run1")
    assert (found.summary.status, found.events) == (State.CANCELLED, 11)


async def test_a_run_that_is_cancelled_while_it_waits_for_room_leaves_no_half_record(
    slow_store: Store, file_settings: StoreSettings
) -> None:
    record = await begun(slow_store)
    await slow_store.records.flush()
    with locked(file_settings):
        for number in range(10):
            await record.event(json_message([number]))
        waiting = asyncio.create_task(record.model_began(ASKS))
        await asyncio.wait([waiting], timeout=0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        record.ended(Status.CANCELLED)
    await slow_store.records.flush()
    found = await show_run(slow_store.database, "run1")
    assert (found.events, found.rounds, found.summary.status) == (10, [], State.CANCELLED)


async def test_bytes_are_bounded_too(file_settings: StoreSettings) -> None:
    async with await Store.open(file_settings.model_copy(update={"buffer_bytes": 1024 * 1024})) as store:
        record = await begun(store)
        await store.records.flush()
        with locked(file_settings):
            await record.event(text_message("x" * 600_000))
            await record.event(text_message("y" * 600_000))
            more = asyncio.create_task(record.event(text_message("z")))
            done, _ = await asyncio.wait([more], timeout=0.05)
            assert done == set()
        await asyncio.wait_for(more, SECONDS)


async def test_what_comes_after_the_end_is_refused_or_logged(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    record = await begun(store)
    await store.records.aclose()
    with pytest.raises(StoreError, match="the records are closed; nothing is written any more"):
        await record.event(text_message("late"))
    record.ended(Status.SUCCEEDED)
    assert "a record came after the records were closed; it is lost" in caplog.text


async def test_a_batch_that_is_sent_twice_is_written_once(store: Store) -> None:
    writer = Writer(store.database, StoreSettings(interval=60))
    batch = writer.batch
    records = await _in_one_batch(store, writer)
    await deliver(store.database, batch)
    first = await _counts(store)
    await deliver(store.database, batch)
    assert await _counts(store) == first
    assert first["runs"] == first["rounds"] == first["calls"] == first["events"] == 1
    assert records.waiting == len(batch)
    await writer.close(SECONDS)


async def _in_one_batch(store: Store, writer: Writer) -> Writer:
    """A whole run in the writer's batch, which is sealed."""
    record = RunRecord(Pen(writer, Masking()), RunStart("twice", "fc", "Hello?"), 0)
    record.began("host")
    (await record.model_began(ASKS)).ended(ModelResult(AssistantMessage(content="x")))
    (await record.tool_began(ToolRequest("tide", {}, "c1"))).ended(ToolResult("low"))
    await record.event(text_message("x"))
    record.ended(Status.SUCCEEDED)
    writer.batch.seal()
    return writer


async def _counts(store: Store) -> dict[str, int]:
    counts = {}
    async with store.database.reading() as connection:
        for table in store.database.tables.metadata.sorted_tables:
            counts[table.name] = len((await connection.execute(table.select())).all())
    return counts


async def test_the_rows_of_a_run_that_was_deleted_meanwhile_are_left_out_and_the_others_written(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    gone, stays = await begun(store, "gone"), await begun(store, "stays")
    await store.records.flush()
    runs = store.database.tables.runs
    async with store.database.writing() as connection:
        await connection.execute(runs.delete().where(runs.c.id == "gone"))
    for record in (gone, stays):
        (await record.model_began(ASKS)).ended(ModelResult(AssistantMessage(content="said")))
        await record.event(text_message("a secret text"))
        record.ended(Status.SUCCEEDED)
    await store.records.flush()
    assert [run.id for run in await list_runs(store.database)] == ["stays"]
    found = await show_run(store.database, "stays")
    assert ([entry.text for entry in found.rounds], found.events) == (["said"], 1)
    errors = [entry.message for entry in caplog.records if entry.levelno == logging.ERROR]
    assert errors == [
        "a record of table rounds (gone-r1) was left out: IntegrityError",
        "a record of table events (gone, 1) was left out: IntegrityError",
    ]
    assert "a secret text" not in caplog.text


def test_what_began_and_ended_in_one_batch_is_one_row() -> None:
    batch = Batch()
    batch.insert("calls", {"id": "c1", "status": "running", "result": None})
    batch.change("calls", "c1", {"status": "succeeded", "result": "low"})
    batch.change("calls", "c0", {"status": "failed"})
    batch.change("calls", "c0", {"seconds": 1.0})
    assert batch.inserts("calls") == [{"id": "c1", "status": "succeeded", "result": "low"}]
    assert batch.changes("calls") == [("c0", {"status": "failed", "seconds": 1.0})]
    assert len(batch) == 2
    assert batch.size > 400


async def test_the_writing_order_is_that_of_the_references(store: Store) -> None:
    order = [table.name for table in store.database.tables.metadata.sorted_tables if table.name in ORDER]
    for table in store.database.tables.metadata.sorted_tables:
        for key in table.foreign_keys:
            assert ORDER.index(key.column.table.name) < ORDER.index(table.name)
    assert set(order) == set(ORDER)


async def test_many_runs_at_once_are_recorded_whole(store: Store) -> None:
    async def run(number: int) -> None:
        record = await begun(store, f"run{number}")
        for count in range(5):
            entry = await record.model_began(ASKS)
            await record.event(text_message(f"{number}/{count}", meta={"round": count}))
            await asyncio.sleep(0)
            entry.ended(ModelResult(AssistantMessage(content=f"{number}/{count}")))
        record.ended(Status.SUCCEEDED, answer=str(number))

    await asyncio.gather(*(run(number) for number in range(60)))
    await store.records.flush()
    found = await list_runs(store.database, limit=100)
    assert {(run.id, run.answer, run.status) for run in found} == {
        (f"run{number}", str(number), State.SUCCEEDED) for number in range(60)
    }
    shown = await show_run(store.database, "run42")
    assert [entry.text for entry in shown.rounds] == [f"42/{count}" for count in range(5)]

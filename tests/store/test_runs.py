"""Recorded runs: listed, found, shown, exported, deleted."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from enfilade.outcome import OutcomeFile, Status
from enfilade.store.errors import RunBusyError, RunNotFoundError
from enfilade.store.export import export_run
from enfilade.store.runs import RunFilter, delete_run, delete_runs, find_run, list_runs, show_run
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade.store.store import Store
from enfilade_sdk.messages import json_message, text_message
from enfilade_sdk.prompts import AssistantMessage, ModelRequest, ModelResult, ToolRequest, ToolResult, UserMessage


async def run(store: Store, run_id: str, *, end: Status | None = Status.SUCCEEDED, **more: Any) -> None:
    """A run with a row in every table."""
    record = await store.records.run_began(RunStart(run_id, more.pop("strategy", "fc"), "Hello?", **more))
    entry = await record.model_began(ModelRequest((UserMessage(content="Hello?"),)))
    entry.ended(ModelResult(AssistantMessage(content="Hello.")))
    (await record.tool_began(ToolRequest("tide", {}, "c1"))).ended(ToolResult("low"))
    await record.event(text_message("Hello."))
    await record.file(OutcomeFile("file", data=b"tide"))
    if end is not None:
        record.ended(end, answer="Hello.")
    await store.records.flush()


async def ids(store: Store, which: RunFilter | None = None, limit: int = 20) -> list[str]:
    return [summary.id for summary in await list_runs(store.database, which, limit=limit)]


async def rows(store: Store) -> dict[str, int]:
    """How many rows each table has."""
    counts = {}
    async with store.database.reading() as connection:
        for table in store.database.tables.metadata.sorted_tables:
            counts[table.name] = len((await connection.execute(table.select())).all())
    return counts


async def test_runs_are_listed_newest_first_and_page_by_page(store: Store) -> None:
    for number in range(5):
        await run(store, f"run{number}")
    assert await ids(store) == ["run4", "run3", "run2", "run1", "run0"]
    page = await list_runs(store.database, limit=2)
    assert await ids(store, RunFilter(before=page[-1].began_at), limit=2) == ["run2", "run1"]


async def test_runs_are_listed_by_what_is_asked_for(store: Store) -> None:
    await run(store, "a", user_id="ada", conversation_id="c1")
    await run(store, "b", user_id="bob", strategy="cot", end=Status.FAILED)
    await run(store, "c", user_id="bob", end=None)
    assert await ids(store, RunFilter(user_id="bob")) == ["c", "b"]
    assert await ids(store, RunFilter(user_id="bob", status=State.FAILED)) == ["b"]
    assert await ids(store, RunFilter(strategy="cot")) == ["b"]
    assert await ids(store, RunFilter(conversation_id="c1")) == ["a"]
    assert await ids(store, RunFilter(status=State.RUNNING)) == ["c"]
    assert await ids(store, RunFilter(user_id="eve")) == []


async def test_a_run_is_named_by_the_beginning_of_its_id(store: Store) -> None:
    for run_id in ("abcd1", "abcd2", "abcd", "xy_z1", "xyyz1", "WXYZ"):
        await run(store, run_id)
    assert await find_run(store.database, "abcd1") == "abcd1"
    assert await find_run(store.database, "abcd") == "abcd"
    assert await find_run(store.database, "xy_z") == "xy_z1"
    with pytest.raises(RunNotFoundError, match="no recorded run has an id that begins with 'abce'"):
        await find_run(store.database, "abce")
    with pytest.raises(RunNotFoundError, match="begins with 'wxyz'"):
        await find_run(store.database, "wxyz")
    with pytest.raises(RunNotFoundError, match="no run has the id 'abc'; give the id, or its first 4 characters"):
        await find_run(store.database, "abc")


async def test_several_runs_of_one_beginning_are_named(store: Store) -> None:
    for number in range(7):
        await run(store, f"same{number}")
    with pytest.raises(RunNotFoundError, match=r"several runs have ids that begin with 'same': same0, .*; give more"):
        await find_run(store.database, "same")


async def test_a_shown_run_has_a_json_form(store: Store) -> None:
    await run(store, "run1", params={"city": "Oban"})
    form = (await show_run(store.database, "run1")).to_json()
    assert json.loads(json.dumps(form)) == form
    assert (form["status"], form["params"], form["events"]) == ("succeeded", {"city": "Oban"}, 1)
    assert datetime.fromisoformat(form["began_at"]).tzinfo == UTC
    assert form["rounds"][0]["calls"][0]["result"] == "low"
    assert (form["files"][0]["size"], form["files"][0]["kept"]) == (4, True)


async def test_an_exported_run_is_one_json_document_however_long(store: Store) -> None:
    record = await store.records.run_began(RunStart("run1", "fc", "Hello?"))
    for number in range(450):
        await record.event(json_message([number]))
    record.ended(Status.SUCCEEDED)
    await store.records.flush()
    pieces = [piece async for piece in export_run(store.database, "run1")]
    form = json.loads("".join(pieces))
    assert form["enfilade_run"] == 1
    assert [event["message"]["json_object"] for event in form["events"]] == [[number] for number in range(450)]
    assert form["files"] == []
    with pytest.raises(RunNotFoundError):
        await anext(export_run(store.database, "run2"))


async def test_a_deleted_run_leaves_its_token_counts_only(store: Store) -> None:
    await run(store, "run1")
    await run(store, "run2")
    before = await rows(store)
    assert await delete_run(store.database, "run1") == "run1"
    left = await rows(store)
    assert left == {name: count if name in ("usage", "hosts") else count // 2 for name, count in before.items()}
    assert {"runs", "rounds", "calls", "events", "files"} <= {name for name, count in left.items() if count == 1}
    with pytest.raises(RunNotFoundError):
        await show_run(store.database, "run1")


async def test_a_running_run_is_not_deleted(store: Store) -> None:
    await run(store, "run1", end=None)
    with pytest.raises(RunBusyError, match="the run run1 is still going; cancel it first"):
        await delete_run(store.database, "run1")
    assert await delete_runs(store.database, RunFilter()) == 0
    assert await ids(store) == ["run1"]


async def test_many_runs_are_deleted_by_what_is_asked_for(store: Store) -> None:
    for number in range(3):
        await run(store, f"run{number}", conversation_id="c1" if number else None)
    assert await delete_runs(store.database, RunFilter(conversation_id="c1"), with_usage=True) == 2
    assert await ids(store) == ["run0"]
    assert (await rows(store))["usage"] == 1
    assert await delete_runs(store.database, RunFilter(before=datetime.now(UTC))) == 1
    assert await ids(store) == []

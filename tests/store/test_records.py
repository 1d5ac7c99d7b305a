"""Runs recorded as they happen: what stands in the store afterwards."""

import asyncio
import hashlib
import json
from decimal import Decimal
from typing import Any

import pytest

from enfilade.outcome import OutcomeFile, Status
from enfilade.store.export import export_run
from enfilade.store.masking import MASK, Masking, masked_params, secrets_of
from enfilade.store.run_record import RunRecord
from enfilade.store.runs import file_content, show_run
from enfilade.store.settings import StoreSettings
from enfilade.store.shown import RunShown
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade.store.store import Store
from enfilade_fc.strategy import FunctionCallingStrategy
from enfilade_sdk.errors import ModelFailedError, ToolNotFoundError
from enfilade_sdk.invocation import File
from enfilade_sdk.messages import (
    BlobChunkPayload,
    MessageType,
    ToolInvokeMessage,
    blob_message,
    json_message,
    log_message,
    text_message,
    variable_message,
)
from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelRequest,
    ModelResult,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from enfilade_sdk.testing.turn import CallOf, Turn
from tests.store.recording import recorded_run

ASKS = ModelRequest((UserMessage(content="Hello?"),))


async def begun(store: Store, run_id: str = "run1", **more: Any) -> RunRecord:
    return await store.records.run_began(RunStart(run_id, "fc", "Hello?", **more))


async def shown(store: Store, run_id: str = "run1") -> RunShown:
    await store.records.flush()
    return await show_run(store.database, run_id)


async def exported(store: Store, run_id: str = "run1") -> dict[str, Any]:
    await store.records.flush()
    pieces = [piece async for piece in export_run(store.database, run_id)]
    form: dict[str, Any] = json.loads("".join(pieces))
    return form


async def test_a_run_stands_in_the_store_as_it_went(store: Store) -> None:
    used = Usage(prompt_tokens=100, completion_tokens=10, total_tokens=110, cached_tokens=60)
    run = await recorded_run(
        store,
        FunctionCallingStrategy,
        "Weather?",
        model=[
            Turn(text="Let me look.", reasoning="a look-up", calls=[CallOf("weather", {"city": "Oban"})], usage=used),
            Turn(text="Rain."),
        ],
        tools={"weather": lambda city: f"rain in {city}"},
        user="ada",
        conversation_id="harbour",
    )
    found = await shown(store, run.id)
    summary = found.summary
    assert (summary.status, summary.question, summary.answer) == (State.SUCCEEDED, "Weather?", "Rain.")
    assert (summary.user_id, summary.conversation_id, summary.error) == ("ada", "harbour", None)
    assert summary.seconds is not None
    first, second = found.rounds
    assert (first.position, first.text, first.reasoning) == (1, "Let me look.", "a look-up")
    assert (first.status, first.model, first.provider) == (State.SUCCEEDED, "scripted", "testing")
    assert (first.usage, second.usage) == (used, Usage())
    (call,) = first.calls
    assert (call.tool, call.arguments, call.result) == ("weather", {"city": "Oban"}, "rain in Oban")
    assert (call.status, call.error) == (State.SUCCEEDED, None)
    assert second.calls == []
    assert found.events == len(run.seen.messages)


async def test_what_began_stands_in_the_store_before_it_ends(store: Store) -> None:
    record = await begun(store)
    model = await record.model_began(ASKS)
    tool = await record.tool_began(ToolRequest("weather", '{"city": "Oban"}', "c1"))
    found = await shown(store)
    assert (found.summary.status, found.summary.ended_at, found.summary.seconds) == (State.RUNNING, None, None)
    assert [(entry.status, entry.calls[0].status) for entry in found.rounds] == [(State.RUNNING, State.RUNNING)]
    assert found.rounds[0].calls[0].arguments == '{"city": "Oban"}'
    tool.ended(ToolResult("rain", seconds=2.5, details={"arguments": {"city": "Oban"}, "provider": "mcp:sky"}))
    model.ended(ModelResult(AssistantMessage(content="Rain."), seconds=1.5, finish_reason="length"))
    record.ended(Status.SUCCEEDED, answer="Rain.")
    (entry,) = (await shown(store)).rounds
    assert (entry.status, entry.seconds, entry.finish_reason) == (State.SUCCEEDED, 1.5, "length")
    (call,) = entry.calls
    assert (call.seconds, call.provider, call.arguments) == (2.5, "mcp:sky", {"city": "Oban"})


async def test_tokens_of_all_model_calls_are_stored_and_none_is_unknown(store: Store) -> None:
    first = Usage(prompt_tokens=100, completion_tokens=10, total_tokens=110)
    second = Usage(prompt_tokens=150, completion_tokens=2, total_tokens=152)
    record = await begun(store)
    for usage in (first, second, Usage()):
        (await record.model_began(ASKS)).ended(ModelResult(AssistantMessage(content="x"), usage=usage))
    record.ended(Status.SUCCEEDED)
    found = await shown(store)
    assert [entry.usage for entry in found.rounds] == [first, second, Usage()]
    assert found.used.usage == Usage(prompt_tokens=250, completion_tokens=12, total_tokens=262)
    assert (found.used.calls, found.used.unknown, found.used.cost) == (3, 1, None)


async def test_a_count_that_no_database_takes_is_unknown(store: Store) -> None:
    record = await begun(store)
    usage = Usage(prompt_tokens=2**63, completion_tokens=2**63 - 1)
    (await record.model_began(ASKS)).ended(ModelResult(AssistantMessage(), usage=usage), cost=Decimal(10**10))
    record.ended(Status.SUCCEEDED)
    (entry,) = (await shown(store)).rounds
    assert entry.usage == Usage(completion_tokens=2**63 - 1)
    assert entry.cost is None


async def test_failures_stand_with_code_and_text(store: Store) -> None:
    record = await begun(store)
    (await record.model_began(ASKS)).failed(ModelFailedError("away", details={"key": "sk-secret"}), text="I th")
    (await record.tool_began(ToolRequest("tide", {}, "c1"))).ended(
        ToolResult("no table", is_error=True, details={"code": "tool_failed"})
    )
    (await record.tool_began(ToolRequest("tyde", {}, "c2"))).failed(ToolNotFoundError("there is not a tool named tyde"))
    (await record.tool_began(ToolRequest("tide", {}, "c3"))).failed(asyncio.CancelledError())
    (await record.tool_began(ToolRequest("tide", {}, "c4"))).failed(ZeroDivisionError("by zero"))
    record.ended(Status.FAILED, answer="I th", error=ModelFailedError("away"))
    found = await shown(store)
    assert (found.summary.error_code, found.summary.error) == ("model_failed", "away")
    (entry,) = found.rounds
    assert (entry.status, entry.error_code, entry.error, entry.text) == (State.FAILED, "model_failed", "away", "I th")
    assert [(c.status, c.error_code, c.error, c.result) for c in entry.calls] == [
        (State.FAILED, "tool_failed", None, "no table"),
        (State.FAILED, "tool_not_found", "there is not a tool named tyde", "there is not a tool named tyde"),
        (State.CANCELLED, "cancelled", "the call was given up", None),
        (State.FAILED, "internal", "ZeroDivisionError: by zero", "ZeroDivisionError: by zero"),
    ]


@pytest.mark.parametrize(("status", "state"), [(Status.FAILED, State.FAILED), (Status.CANCELLED, State.CANCELLED)])
async def test_what_is_open_when_the_run_ends_ends_with_it(store: Store, status: Status, state: State) -> None:
    record = await begun(store)
    await record.model_began(ASKS)
    await record.tool_began(ToolRequest("tide", {}, "c1"))
    record.ended(status)
    (entry,) = (await shown(store)).rounds
    assert (entry.status, entry.calls[0].status, entry.calls[0].result) == (state, state, None)


async def test_only_the_first_end_counts(store: Store) -> None:
    record = await begun(store)
    model = await record.model_began(ASKS)
    tool = await record.tool_began(ToolRequest("tide", {}, "c1"))
    tool.ended(ToolResult("low"))
    model.ended(ModelResult(AssistantMessage(content="first")))
    record.ended(Status.SUCCEEDED, answer="first")
    await store.records.flush()
    tool.failed(ModelFailedError("late"))
    model.failed(ModelFailedError("late"))
    record.ended(Status.FAILED, answer="late")
    found = await shown(store)
    assert (found.summary.status, found.summary.answer) == (State.SUCCEEDED, "first")
    assert (found.rounds[0].text, found.rounds[0].calls[0].result) == ("first", "low")


async def test_a_call_belongs_to_the_round_that_asked_for_it(store: Store) -> None:
    record = await begun(store)
    early = await record.tool_began(ToolRequest("clock", {}, ""))
    early.ended(ToolResult("noon"))
    asks = await record.model_began(ASKS)
    other = await record.model_began(ASKS)
    asks.ended(ModelResult(AssistantMessage(tool_calls=())))
    other.ended(ModelResult(AssistantMessage(content="done")))
    (await record.tool_began(ToolRequest("tide", {}, "made up"))).ended(ToolResult("low"))
    record.ended(Status.SUCCEEDED)
    found = await shown(store)
    assert [call.tool for call in found.calls] == ["clock"]
    assert [[call.tool for call in entry.calls] for entry in found.rounds] == [[], ["tide"]]


async def test_events_keep_their_order_and_texts_that_follow_each_other_are_one(store: Store) -> None:
    record = await begun(store)
    thought = {"round": 1, "reasoning": True}
    log = log_message("ROUND 1")
    messages = [
        text_message("Hm", meta=thought),
        text_message("m.", meta=thought),
        text_message("Rain "),
        text_message("today."),
        log,
        text_message("Wind"),
        json_message({"a": [1, None]}),
        variable_message("name", object()),
    ]
    for message in messages:
        await record.event(message)
    record.ended(Status.SUCCEEDED)
    events = (await exported(store))["events"]
    assert [(event["sequence"], event["count"], event["type"]) for event in events] == [
        (1, 2, "text"),
        (3, 2, "text"),
        (5, 1, "log"),
        (6, 1, "text"),
        (7, 1, "json"),
        (8, 1, "variable"),
    ]
    assert (events[0]["message"], events[0]["meta"]) == ({"text": "Hmm."}, thought)
    assert (events[1]["message"], events[1]["meta"]) == ({"text": "Rain today."}, {})
    assert events[2]["message"]["id"] == log.message.id  # type: ignore[union-attr]  # it is a log
    assert events[4]["message"]["json_object"] == {"a": [1, None]}


async def test_texts_of_several_runs_and_batches_do_not_mix(store: Store) -> None:
    one, two = await begun(store, "run1"), await begun(store, "run2")
    for part in "abc":
        await one.event(text_message(part))
        await two.event(text_message(part.upper()))
        await store.records.flush()
    await one.event(text_message("x" * 70_000))
    await one.event(text_message("y" * 10))
    for record in (one, two):
        record.ended(Status.SUCCEEDED)
    first, second = await exported(store, "run1"), await exported(store, "run2")
    assert [event["message"]["text"][:3] for event in first["events"]] == ["a", "b", "c", "xxx", "yyy"]
    assert [event["message"]["text"] for event in second["events"]] == ["A", "B", "C"]


async def test_files_are_kept_up_to_the_limit_and_blobs_are_no_events(settings: StoreSettings) -> None:
    small, large = b"\0\xff" * 10, b"large" * 10
    part = BlobChunkPayload(id="b", sequence=0, total_length=50, blob=large, end=True)
    async with await Store.open(settings.model_copy(update={"file_bytes": 40})) as store:
        record = await begun(store)
        await record.event(blob_message(small, mime_type="image/png", filename="s.png"))
        await record.event(ToolInvokeMessage(type=MessageType.BLOB_CHUNK, message=part))
        await record.file(OutcomeFile("file", filename="s.png", mime_type="image/png", data=small, meta={"dpi": 72}))
        await record.file(OutcomeFile("file", filename="l.bin", data=large))
        await record.file(OutcomeFile("image_link", url="https://charts.example/a.png"))
        record.ended(Status.SUCCEEDED)
        form = await exported(store)
        kept, left, linked = (await shown(store)).files
        assert await file_content(store.database, kept.id) == small
        assert await file_content(store.database, left.id) is None
    assert [event["message"]["size"] for event in form["events"]] == [20, 50]
    assert not any("blob" in event["message"] for event in form["events"])
    assert form["files"][0]["data"] == "AP8A/wD/AP8A/wD/AP8A/wD/AP8="
    assert (kept.size, kept.sha256, kept.meta) == (20, hashlib.sha256(small).hexdigest(), {"dpi": 72})
    assert (left.kept, left.size, left.sha256) == (False, 50, hashlib.sha256(large).hexdigest())
    assert (linked.url, linked.size, linked.kept) == ("https://charts.example/a.png", None, False)


async def test_of_the_questions_files_only_references_are_kept(store: Store) -> None:
    files = (
        File(url="data:image/png;base64,AAAA", mime_type="image/png", filename="a.png"),
        File(url="https://charts.example/a.png"),
    )
    (await begun(store, files=files)).ended(Status.SUCCEEDED)
    urls = [file["url"] for file in (await shown(store)).question_files]
    assert urls == ["data:image/png;base64,... (26 characters)", "https://charts.example/a.png"]


SECRET = 'sk-päss"word\\1'


async def everything(store: Store) -> str:
    """All that stands in the store, in one text."""
    await store.records.flush()
    found = []
    async with store.database.reading() as connection:
        for table in store.database.tables.metadata.sorted_tables:
            for row in (await connection.execute(table.select())).mappings():
                found += [value for value in row.values() if isinstance(value, str)]
    return "\n".join(found)


async def test_a_secret_stands_in_no_record_wherever_the_run_wrote_it(store: Store) -> None:
    declared = [
        AgentStrategyParameter(name="api_key", type="secret-input"),
        AgentStrategyParameter(name="city", type="string"),
    ]
    params = {"api_key": SECRET, "city": "Oban"}
    record = await begun(store, params=masked_params(params, declared), secrets=secrets_of(params, declared))
    leak = f"the key is {SECRET}!"
    asks = await record.model_began(ModelRequest((UserMessage(content=f"Hello?\n{leak}"),)))
    asks.ended(ModelResult(AssistantMessage(content=leak, reasoning=leak)))
    (await record.model_began(ModelRequest((UserMessage(content=leak),)))).failed(ModelFailedError(leak))
    (await record.tool_began(ToolRequest(leak, {leak: [leak]}, leak))).ended(
        ToolResult(leak, is_error=True, details={"arguments": {"a": {"b": leak}}, "provider": leak, "code": leak})
    )
    for part in (text_message("the key is sk-pä"), text_message('ss"word\\1!'), json_message({leak: leak})):
        await record.event(part)
    await record.event(log_message(leak, data={"key": leak}))
    await record.file(OutcomeFile("file", filename=leak, meta={"key": leak}))
    record.ended(Status.FAILED, answer=leak, error=ModelFailedError(leak))
    found = await everything(store)
    assert SECRET not in found
    assert json.dumps(SECRET)[1:-1] not in found
    assert json.dumps(SECRET, ensure_ascii=False)[1:-1] not in found
    assert found.count(MASK) > 15
    assert (await shown(store)).params == {"api_key": MASK, "city": "Oban"}
    assert SECRET not in repr(RunStart("r", "fc", "q", secrets=(SECRET,)))


def test_masking_takes_the_longest_secret_first_and_leaves_short_ones_and_endless_values() -> None:
    masking = Masking(["abc", "secret", "secret-two"])
    assert masking.text("abc secret-two secret") == f"abc {MASK} {MASK}"
    endless: list[Any] = []
    endless.append(endless)
    assert masking.value(endless) == MASK
    assert Masking().value(endless) is endless


def test_an_empty_secret_parameter_stays_empty() -> None:
    declared = [AgentStrategyParameter(name="api_key", type="secret-input")]
    assert masked_params({"api_key": ""}, declared) == {"api_key": ""}
    assert secrets_of({"api_key": ""}, declared) == ()


async def test_values_that_are_not_json_harm_no_record(store: Store) -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    record = await begun(store, params={"bytes": b"\xff", "half": "\ud83d", "nan": float("nan"), 1: {2}})
    for meta in (endless, {"deep": deep, "half": "\ud83d"}, {"nan": float("inf")}):
        await record.file(OutcomeFile("file", meta=meta))
    record.ended(Status.SUCCEEDED)
    form = await exported(store)
    assert form["params"] == {"bytes": "b'\\xff'", "half": "\ud83d", "nan": "NaN", "1": "{2}"}
    assert [file["meta"] for file in form["files"]] == [{"self": "..."}, {"not_recorded": "dict"}, {"nan": "Infinity"}]

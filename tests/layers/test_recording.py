import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.config import LayerSettings, Price, StoreSection
from enfilade.discovery.entry_points import installed_candidates
from enfilade.layers.costs import Costs
from enfilade.layers.limits import ExecutionLimits
from enfilade.layers.recording import Recording
from enfilade.outcome import Outcome
from enfilade.store.errors import StoreError
from enfilade.store.export import export_run
from enfilade.store.records import Records
from enfilade.store.run_record import RunRecord
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from enfilade_sdk.messages import blob_message
from tests.layers.scenario import Isolation, hosted, told
from tests.support.model_turns import Turn, call_turn, text_turn

EACH = pytest.mark.parametrize("isolation", ["inprocess", "process"])
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}


@asynccontextmanager
async def stored(folder: Path) -> AsyncIterator[Store]:
    async with await Store.open(StoreSettings(url=f"sqlite:///{folder}/records.db")) as store:
        yield store


async def exported(store: Store, outcome: Outcome) -> dict[str, Any]:
    """A run's records, as JSON."""
    await store.records.flush()
    text = "".join([part async for part in export_run(store.database, outcome.run_id)])
    form: dict[str, Any] = json.loads(text)
    return form


def texts(events: list[dict[str, Any]]) -> str:
    return "".join(event["message"].get("text", "") for event in events)


@EACH
async def test_everything_that_happens_is_in_the_records(isolation: Isolation, tmp_path: Path) -> None:
    turns = [call_turn("calculator", {"expression": "6*7"}, usage=USAGE), text_turn("It is ", "42.", usage=USAGE)]
    agent = AgentConfig(strategy="function-calling", tools=("calculator",))
    question = Question("What is 6 * 7?", user_id="ada", conversation_id="c9")
    async with stored(tmp_path) as store:
        async with hosted([Recording(store.records)], turns, candidates=installed_candidates({}, isolation)) as host:
            outcome = await host.ask(agent, question)
        run = await exported(store, outcome)
    assert (run["status"], run["answer"], run["question"]) == ("succeeded", "It is 42.", "What is 6 * 7?")
    assert (run["strategy"], run["plugin"], run["model"]) == ("function-calling", "enfilade-fc", "scripted")
    assert (run["user_id"], run["conversation_id"]) == ("ada", "c9")
    assert [entry["text"] for entry in run["rounds"]] == [None, "It is 42."]
    [call] = run["rounds"][0]["calls"]
    assert (call["tool"], call["arguments"], call["result"]) == ("calculator", {"expression": "6*7"}, "42")
    assert run["used"]["usage"]["total_tokens"] == 2200
    assert texts(run["events"]).endswith("It is 42.")
    assert [event["type"] for event in run["events"]].count("log") > 4


@EACH
async def test_a_run_that_is_given_up_is_recorded_as_far_as_it_came(isolation: Isolation, tmp_path: Path) -> None:
    agent = told({"say": "so far"}, "ask")
    async with stored(tmp_path) as store:
        async with hosted([Recording(store.records)], [Turn(text=["a", "b"], pause=60)], isolation=isolation) as host:
            run = host.run(agent, "?")
            await anext(aiter(run))
            await run.aclose()
        assert run.outcome is not None
        form = await exported(store, run.outcome)
    assert (form["status"], form["error_code"], texts(form["events"])) == ("cancelled", "cancelled", "so far")


@EACH
async def test_a_call_that_a_limit_interrupts_is_recorded_with_what_the_model_had_said(
    isolation: Isolation, tmp_path: Path
) -> None:
    turns = [Turn(text=["half a ", *["word "] * 99], pause=0.2)]
    async with stored(tmp_path) as store:
        layers = [Recording(store.records), ExecutionLimits(max_time=0.8)]
        async with hosted(layers, turns, isolation=isolation) as host:
            await host.prepare(told("ask"))
            outcome = await host.ask(told("ask"), "?")
        run = await exported(store, outcome)
    assert (run["status"], run["error_code"]) == ("failed", "limit_exceeded")
    [entry] = run["rounds"]
    assert entry["status"] == "cancelled"
    assert entry["text"].startswith("half a ")


async def test_calls_that_fail_are_recorded_with_their_errors(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        async with hosted([Recording(store.records)]) as host:
            agent = told("ask", ["calculator", {"expression": "1/0"}], brave=True, tools=["calculator"])
            outcome = await host.ask(agent, "?")
        run = await exported(store, outcome)
    [entry] = run["rounds"]
    assert (entry["status"], entry["error_code"]) == ("failed", "model_failed")
    [call] = entry["calls"]
    assert (call["status"], call["tool"]) == ("failed", "calculator")
    assert "zero" in call["result"]


async def test_costs_are_recorded_where_the_price_is_known(tmp_path: Path) -> None:
    prices = {"m": Price(input=Decimal(2), output=Decimal(10))}
    async with stored(tmp_path) as store:
        layers = [Recording(store.records), Costs()]
        async with hosted(layers, [text_turn("a", usage=USAGE)], config={"prices": prices}) as host:
            run = await exported(store, await host.ask(told("ask"), "?"))
        async with hosted(layers, [text_turn("a", usage=USAGE)]) as host:
            unpriced = await exported(store, await host.ask(told("ask"), "?"))
    assert (run["rounds"][0]["cost"], run["used"]["cost"], run["used"]["currency"]) == (0.003, 0.003, "USD")
    assert (unpriced["rounds"][0]["cost"], unpriced["used"]["cost"]) == ("unknown", "unknown")


async def test_records_and_outcomes_say_what_it_cost_in_the_same_words(tmp_path: Path) -> None:
    prices = {"m": Price(input=Decimal(2), output=Decimal(10))}
    turns = [text_turn("a", usage=USAGE), text_turn("b")]
    async with (
        stored(tmp_path) as store,
        hosted([Recording(store.records), Costs()], turns, config={"prices": prices}) as host,
    ):
        outcome = await host.ask(told("ask", "ask"), "?")
        run = await exported(store, outcome)
    said, kept = outcome.to_json(), run["used"]
    names = ("cost", "known_cost", "currency")
    assert {name: kept[name] for name in names} == {name: said["usage"][name] for name in names}
    assert (kept["cost"], kept["known_cost"]) == ("unknown", 0.003)
    assert (
        [entry["cost"] for entry in run["rounds"]] == [entry["cost"] for entry in said["rounds"]] == [0.003, "unknown"]
    )


async def test_secrets_are_not_in_the_records(tmp_path: Path) -> None:
    agent = told({"say": "the key is hunter2hunter2"}, key="hunter2hunter2")
    async with stored(tmp_path) as store:
        async with hosted([Recording(store.records)]) as host:
            outcome = await host.ask(agent, "Is it hunter2hunter2?")
        run = await exported(store, outcome)
    assert outcome.text == "the key is hunter2hunter2"
    assert "hunter2" not in json.dumps(run)


async def test_files_are_recorded_whole(tmp_path: Path) -> None:
    async def draw() -> Any:
        """Draws."""
        return blob_message(b"PNG...", mime_type="image/png", filename="a.png")

    async with stored(tmp_path) as store, hosted([Recording(store.records)], tools=[draw]) as host:
        run = await exported(store, await host.ask(told(["draw", {}], tools=["draw"]), "?"))
    [file] = run["files"]
    assert (file["filename"], file["size"], file["data"]) == ("a.png", 6, "UE5HLi4u")


async def test_runs_at_once_have_records_of_their_own(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        async with hosted([Recording(store.records)]) as host:
            agents = [told(*[{"say": f"{number} "}] * 3) for number in range(10)]
            outcomes = await asyncio.gather(*(host.ask(agent, "?") for agent in agents))
        for number, outcome in enumerate(outcomes):
            assert texts((await exported(store, outcome))["events"]) == f"{number} " * 3


class Broken(Records):
    """Records that cannot be written from some point on."""

    def __init__(self, store: Store, breaks_at: str) -> None:
        self._store = store
        self._breaks_at = breaks_at

    async def run_began(self, start: RunStart) -> RunRecord:
        if self._breaks_at == "run_began":
            raise StoreError("the store is full")
        record = await self._store.records.run_began(start)

        async def fails(*_: object, **__: object) -> Any:
            raise StoreError("the store is full")

        setattr(record, self._breaks_at, fails)
        return record


@pytest.mark.parametrize("breaks_at", ["run_began", "model_began", "tool_began", "event", "settled"])
@EACH
async def test_a_run_that_is_to_fail_with_its_records_fails_and_says_so(
    isolation: Isolation, breaks_at: str, tmp_path: Path
) -> None:
    agent = told(["calculator", {"expression": "1"}], "ask", {"say": "x"}, tools=["calculator"], brave=True)
    async with (
        stored(tmp_path) as store,
        hosted([Recording(Broken(store, breaks_at))], [text_turn("a")], isolation=isolation) as host,
    ):
        outcome = await host.ask(agent, "?")
    assert outcome.error is not None
    assert outcome.error.message == "the store is full"


async def test_a_configuration_can_ask_for_records(tmp_path: Path) -> None:
    layers = (LayerSettings(kind="recording"), LayerSettings(kind="limits"))
    section = StoreSection.model_validate({"url": f"sqlite:///{tmp_path}/records.db"})
    async with hosted(None, [text_turn("a")], config={"layers": layers, "store": section}) as host:
        outcome = await host.ask(told("ask"), "?")
    async with stored(tmp_path) as store:
        assert (await exported(store, outcome))["answer"] == "a"

"""A question that names a conversation brings its earlier turns from the records."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.config import Config, LayerSettings, MemorySettings, StoreSection
from enfilade.discovery.entry_points import installed_candidates
from enfilade.extensions.late_store import LateStore
from enfilade.extensions.loading import Extensions
from enfilade.host import Host
from enfilade.layers.kinds import layers_of, records_runs
from enfilade.memory import Memory
from enfilade.models.settings import ModelSettings
from enfilade.outcome import Outcome
from enfilade.store.conversation import Conversation, Window
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import AssistantMessage, UserMessage
from tests.support.model_server import ModelServer
from tests.support.model_turns import call_turn, error_turn, text_turn

HELLO = (UserMessage(content="Hello?"), AssistantMessage(content="Hello Ada."))

SUMS = AgentConfig(tools=("calculator",))

RECORDING = LayerSettings(kind="recording")


class Shelf:
    """Has one conversation, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Window]] = []

    async def conversation(self, conversation_id: str, *, user_id: str, window: Window) -> Conversation:
        self.asked.append((conversation_id, user_id, window))
        return Conversation(HELLO, 1)

    async def remembers(self) -> bool:
        return True


def section(folder: Path) -> StoreSection:
    return StoreSection.model_validate({"url": f"sqlite:///{folder}/records.db"})


async def told(server: ModelServer, question: Question, **settings: Any) -> Outcome:
    """Puts one question to a host of its own, as after a restart."""
    model = ModelSettings(name="scripted", base_url=server.base_url, max_retries=0)
    config = Config(default_model="m", models={"m": model}, **settings)
    plugins = installed_candidates({}, "inprocess")
    async with Host(config, candidates=plugins, extensions=Extensions()) as host:
        return await host.ask(SUMS, question)


def said(server: ModelServer, request: int = -1) -> list[tuple[str, str]]:
    """The words of a request, without those of the instruction."""
    messages = server.bodies[request]["messages"]
    return [(m["role"], m.get("content") or "") for m in messages if m["role"] != "system"]


async def test_the_next_host_has_what_the_last_one_had_with_its_tool_rounds(tmp_path: Path) -> None:
    way = [call_turn("calculator", {"expression": "6 * 7"}), text_turn("42."), text_turn("Yes.")]
    async with ModelServer(way) as server:
        await told(server, Question("6 * 7?", conversation_id="sums"), store=section(tmp_path))
        live = [*server.bodies[1]["messages"], {"role": "assistant", "content": "42."}]
        outcome = await told(server, Question("Sure?", conversation_id="sums"), store=section(tmp_path))
        assert outcome.answer == "Yes."
        assert server.bodies[2]["messages"] == [*live, {"role": "user", "content": "Sure?"}]


async def test_a_history_of_ones_own_wins(tmp_path: Path) -> None:
    async with ModelServer([text_turn("One."), text_turn("Two.")]) as server:
        await told(server, Question("First?", conversation_id="c"), store=section(tmp_path))
        await told(server, Question("Second?", conversation_id="c", history=HELLO), store=section(tmp_path))
        assert said(server) == [("user", "Hello?"), ("assistant", "Hello Ada."), ("user", "Second?")]


@pytest.mark.parametrize("other", [{"user_id": "eve"}, {"conversation_id": "other"}, {"conversation_id": None}])
async def test_nobody_gets_the_turns_of_another_user_or_conversation(tmp_path: Path, other: dict[str, Any]) -> None:
    mine: dict[str, Any] = {"user_id": "ada", "conversation_id": "c"}
    async with ModelServer([text_turn("One."), text_turn("Two.")]) as server:
        await told(server, Question("First?", **mine), store=section(tmp_path))
        await told(server, Question("Second?", **(mine | other)), store=section(tmp_path))
        assert said(server) == [("user", "Second?")]


async def test_a_turn_that_failed_is_remembered_as_one(tmp_path: Path) -> None:
    async with ModelServer([error_turn(401, {"error": {"message": "who?"}}), text_turn("Two.")]) as server:
        await told(server, Question("First?", conversation_id="c"), store=section(tmp_path))
        await told(server, Question("Second?", conversation_id="c"), store=section(tmp_path))
        assert said(server) == [
            ("user", "First?"),
            ("assistant", "[No answer: the run failed (model_failed).]"),
            ("user", "Second?"),
        ]


async def test_what_is_brought_along_is_cut_to_whole_turns(tmp_path: Path) -> None:
    turns = [text_turn("One."), text_turn("Two."), text_turn("Three.")]
    async with ModelServer(turns) as server:
        for text in ("First?", "Second?", "Third?"):
            question = Question(text, conversation_id="c")
            await told(server, question, store=section(tmp_path), memory=MemorySettings(messages=3))
        assert said(server) == [("user", "Second?"), ("assistant", "Two."), ("user", "Third?")]


async def test_a_run_fails_whose_earlier_turns_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "records.db").write_text("this is no database at all")
    async with ModelServer() as server:
        outcome = await told(server, Question("First?", conversation_id="c"), store=section(tmp_path))
        assert server.requests == []
    assert outcome.error is not None
    assert "the file is no SQLite database" in outcome.error.message


@pytest.mark.parametrize(
    ("settings", "window", "wanted"),
    [
        (MemorySettings(), 0, Window()),
        (MemorySettings(), 8000, Window(tokens=4000)),
        (MemorySettings(messages=6), 8000, Window(messages=6)),
        (MemorySettings(tokens=100), 8000, Window(tokens=100)),
    ],
)
async def test_half_of_the_models_window_bounds_what_no_setting_bounds(
    settings: MemorySettings, window: int, wanted: Window
) -> None:
    shelf = Shelf()
    question = Question("Well?", user_id="ada", conversation_id="c")
    recalled = await Memory(shelf, settings).recalled(question, ModelInfo(context_window=window))
    assert shelf.asked == [("c", "ada", wanted)]
    assert recalled.history == HELLO


async def test_without_records_nothing_is_remembered() -> None:
    question = Question("Well?", conversation_id="c")
    assert await Memory(None, MemorySettings()).recalled(question, ModelInfo()) is question


async def test_a_store_that_cannot_rebuild_conversations_brings_no_earlier_turns() -> None:
    class Sheet:
        """A store of an extension with the least that one has."""

        records = values = None

        async def aclose(self) -> None:
            pass

    async def opened() -> Any:
        return Sheet()

    memory = Memory(LateStore(opened), MemorySettings())
    question = Question("Well?", conversation_id="c")
    assert not await memory.works()
    assert (await memory.recalled(question, ModelInfo())).history == ()


@pytest.mark.parametrize(
    ("layers", "kinds", "records"),
    [
        (None, ["recording", "limits"], True),
        ((LayerSettings(kind="limits"), RECORDING), ["limits", "recording"], True),
        ((LayerSettings(kind="recording", enabled=False),), ["recording"], False),
        ((), ["recording"], True),
    ],
)
def test_with_a_store_runs_are_recorded_unless_it_is_said_otherwise(
    layers: Sequence[LayerSettings] | None, kinds: list[str], records: bool, tmp_path: Path
) -> None:
    config = Config(store=section(tmp_path), layers=None if layers is None else tuple(layers))
    assert [entry.kind for entry in layers_of(config)] == kinds
    assert records_runs(config) is records


def test_without_a_store_only_the_layer_records() -> None:
    assert not records_runs(Config())
    assert records_runs(Config(layers=(RECORDING,)))

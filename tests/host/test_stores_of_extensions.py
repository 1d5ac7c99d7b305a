"""A store of another package that keeps no counts and no petitions; and the turns that fit without any store."""

import asyncio
from typing import Any

import pytest

from enfilade.config import MemorySettings
from enfilade.errors import ConfigError
from enfilade.extensions.late_counts import LateCounts
from enfilade.extensions.late_petitions import LatePetitions
from enfilade.extensions.late_store import LateStore
from enfilade.layers.counts import MemoryCounts
from enfilade.layers.petition import AskRecord
from enfilade.layers.petitions import MemoryPetitions
from enfilade.memory import Memory
from enfilade.petition import Decision, Petition
from enfilade.ration import Ration, Reservation, Shortage
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import AssistantMessage, PromptMessage, ToolMessage, UserMessage

PETITION = Petition("p1", "r1", "ada", "p", "s", None, "delete", "c1", {}, 0, 1)


class Sheet:
    """The least that a store has."""

    records = values = None

    async def aclose(self) -> None:
        pass


class Ledger(Sheet):
    """A store with everything."""

    def __init__(self) -> None:
        self.counts = MemoryCounts()
        self.petitions = MemoryPetitions()


def late(store: Any) -> LateStore:
    async def opened() -> Any:
        return store

    return LateStore(opened)


async def test_a_quota_counts_in_memory_where_the_store_keeps_no_counts() -> None:
    counts, ration = LateCounts(late(Sheet())), Ration("ada", 60.0, {"calls": 1})
    first = await counts.reserve(ration, {"calls": 1})
    assert isinstance(first, Reservation)
    assert isinstance(await counts.reserve(ration, {"calls": 1}), Shortage)
    await counts.settle(first, {"calls": 0})
    assert isinstance(await counts.reserve(ration, {"calls": 1}), Reservation)


async def test_a_quota_counts_in_a_store_that_keeps_counts() -> None:
    store, ration = Ledger(), Ration("ada", 60.0, {"calls": 1})
    assert isinstance(await LateCounts(late(store)).reserve(ration, {"calls": 1}), Reservation)
    assert isinstance(await store.counts.reserve(ration, {"calls": 1}), Shortage)


async def test_a_store_that_keeps_no_petitions_is_told() -> None:
    with pytest.raises(ConfigError, match=r"via = 'record', and the \[store\] keeps no petitions"):
        await AskRecord(LatePetitions(late(Sheet())))(PETITION)


async def test_a_store_that_keeps_petitions_is_asked() -> None:
    store = Ledger()
    ask = AskRecord(LatePetitions(late(store)))

    async def answer() -> None:
        await store.petitions.until()
        store.petitions.decide("p1", Decision(allowed=True))

    said, _ = await asyncio.wait_for(asyncio.gather(ask(PETITION), answer()), 15)
    assert said == Decision(allowed=True)


def turn(number: int, size: int = 4) -> list[PromptMessage]:
    """A turn of about so many tokens."""
    text = str(number) * size
    return [UserMessage(content=text), AssistantMessage(content=text)]


TURNS = [*turn(1), *turn(2), *turn(3)]


@pytest.mark.parametrize(
    ("settings", "window", "kept"),
    [
        (MemorySettings(), 0, 6),
        (MemorySettings(messages=4), 0, 4),
        (MemorySettings(messages=3), 0, 2),
        (MemorySettings(messages=1), 0, 0),
        (MemorySettings(tokens=4), 0, 4),
        (MemorySettings(), 4, 2),
        (MemorySettings(), 8000, 6),
    ],
)
def test_the_newest_whole_turns_are_kept_that_fit(settings: MemorySettings, window: int, kept: int) -> None:
    fitting = Memory(None, settings).fitting(TURNS, ModelInfo(context_window=window))
    assert fitting == tuple(TURNS[len(TURNS) - kept :])


def test_a_turn_with_tool_rounds_is_not_cut_in_two() -> None:
    long: list[PromptMessage] = [
        UserMessage(content="a"),
        ToolMessage(tool_call_id="c", content="b", name="t"),
        AssistantMessage(content="c"),
    ]
    assert Memory(None, MemorySettings(messages=4)).fitting([*long, *turn(2)], ModelInfo()) == tuple(turn(2))

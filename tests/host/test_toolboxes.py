"""Engines are kept, made anew and closed, never under a run that works with them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from enfilade import toolboxes
from enfilade.toolboxes import Toolboxes
from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.limits import ToolLimits
from enfilade.tools.registry import SourceKind
from enfilade.tools.source import PythonSetting
from enfilade.tools.tool import Tool
from enfilade_sdk.messages import ToolInvokeMessage, text_message
from enfilade_sdk.prompts import ToolRequest, ToolResult


class Pump:
    """A source and its only tool, which works only while the source is open."""

    def __init__(self, name: str, made: "list[Pump]") -> None:
        self.name = self.origin = name
        self.description, self.schema, self.provider = "Pumps.", {"type": "object"}, "pumps"
        self.timeout: float | None = None
        self.secrets: frozenset[str] = frozenset()
        self.outdated = False
        self.closed = 0
        self._made = made

    async def load(self) -> list[Tool]:
        self._made.append(self)
        return [self]

    async def aclose(self) -> None:
        self.closed += 1

    async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
        yield text_message("dry" if self.closed else "wet")


class Pumps:
    """The pumps that were loaded, in order, and what lends them."""

    def __init__(self) -> None:
        self.made: list[Pump] = []
        kind = SourceKind("pump", self._make, "pumps", argument="NAME")
        self.boxes = Toolboxes(ToolLimits(), {}, kinds=[kind])

    def _make(self, name: str, _setting: PythonSetting) -> Pump:
        return Pump(name, self.made)


@pytest.fixture
async def pumps() -> AsyncIterator[Pumps]:
    made = Pumps()
    yield made
    await made.boxes.close()


def entries(name: str) -> tuple[ToolEntry, ...]:
    return (ToolEntry(tool=f"pump:{name}"),)


async def pumped(engine: ToolEngine, name: str) -> str:
    [result] = [item async for item in engine.invoke(ToolRequest(name, "{}")) if isinstance(item, ToolResult)]
    return result.text


async def test_one_that_is_pushed_out_is_closed_when_the_last_run_gives_it_back(
    pumps: Pumps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolboxes, "KEPT", 2)
    first, others = entries("first"), [entries(f"p{number}") for number in range(3)]
    async with pumps.boxes.lent(first) as engine:
        async with pumps.boxes.lent(first) as same:
            assert same is engine
            for each in others:
                await pumps.boxes.engine(each)
            assert await pumped(engine, "first") == "wet"
        assert await pumped(engine, "first") == "wet"
        assert [pump.closed for pump in pumps.made] == [0, 1, 0, 0]
    assert [pump.closed for pump in pumps.made] == [1, 1, 0, 0]


async def test_one_that_was_pushed_out_is_made_again_for_the_next_run(
    pumps: Pumps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolboxes, "KEPT", 1)
    first, other = entries("first"), entries("other")
    async with pumps.boxes.lent(first) as engine:
        await pumps.boxes.engine(other)
        async with pumps.boxes.lent(first) as again:
            assert again is not engine
            assert (await pumped(engine, "first"), await pumped(again, "first")) == ("wet", "wet")
    assert [(pump.name, pump.closed) for pump in pumps.made] == [("first", 1), ("other", 1), ("first", 0)]


async def test_one_whose_tools_changed_serves_the_run_that_has_it(pumps: Pumps) -> None:
    own = entries("own")
    async with pumps.boxes.lent(own) as before:
        pumps.made[0].outdated = True
        async with pumps.boxes.lent(own) as after:
            assert after is not before
            assert await pumped(before, "own") == "wet"
    assert [pump.closed for pump in pumps.made] == [1, 0]


async def test_many_runs_at_once_share_one_and_none_is_left_open(pumps: Pumps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolboxes, "KEPT", 3)
    menus = [entries(f"p{number}") for number in range(8)]

    async def run(number: int) -> str:
        async with pumps.boxes.lent(menus[number % 8]) as engine:
            await asyncio.sleep(0)
            return await pumped(engine, f"p{number % 8}")

    assert set(await asyncio.gather(*(run(number) for number in range(200)))) == {"wet"}
    assert sum(1 for pump in pumps.made if not pump.closed) == 3
    await pumps.boxes.close()
    assert {pump.closed for pump in pumps.made} == {1}


async def test_a_host_that_ends_closes_those_in_use_too_and_each_once(
    pumps: Pumps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolboxes, "KEPT", 1)
    async with AsyncExitStack() as stack:
        for name in ("a", "b"):
            await stack.enter_async_context(pumps.boxes.lent(entries(name)))
        await pumps.boxes.close()
        assert [pump.closed for pump in pumps.made] == [1, 1]
    assert [pump.closed for pump in pumps.made] == [1, 1]

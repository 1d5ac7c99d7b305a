"""Servers whose tools change while a host runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from enfilade.config import Config
from enfilade.isolation.companion import Companions
from enfilade.toolboxes import Toolboxes
from enfilade.tools.entry import ToolEntry
from enfilade.tools.limits import ToolLimits
from enfilade.tools.mcp.kind import mcp_kind
from enfilade.tools.mcp.settings import McpSettings
from enfilade.tools.registry import builtin_kinds
from tests.support.mcp_setup import Record, server
from tests.support.tool_calls import call

HARBOUR = (ToolEntry(tool="mcp:harbour"), ToolEntry(tool="calculator"))


@asynccontextmanager
async def toolboxes(settings: McpSettings) -> AsyncIterator[Toolboxes]:
    """The engines of a host that has the server."""
    config = Config(mcp={"harbour": settings})
    kinds = [*builtin_kinds(), mcp_kind(Companions)]
    made = Toolboxes(ToolLimits(), {}, kinds=kinds, sections={"mcp": config.mcp})
    try:
        yield made
    finally:
        await made.close()


async def test_the_next_run_has_the_tools_that_the_server_has_now() -> None:
    async with toolboxes(server("Changes")) as boxes:
        first = await boxes.engine(HARBOUR)
        assert await boxes.engine(HARBOUR) is first
        assert (await call(first, "quick")).text == "changed"
        second = await boxes.engine(HARBOUR)
        assert set(second.names) - set(first.names) == {"extra_10"}
        assert await boxes.engine(HARBOUR) is second


async def test_a_run_under_way_keeps_the_tools_it_began_with() -> None:
    async with toolboxes(server("Changes")) as boxes:
        first = await boxes.engine(HARBOUR)
        await call(first, "quick")
        await boxes.engine(HARBOUR)
        assert (await call(first, "echo", {"text": "as before"})).text == "as before"


async def test_a_server_that_was_started_anew_is_asked_for_its_tools_anew(record: Record) -> None:
    async with toolboxes(server("DiesOnce", record.path)) as boxes:
        first = await boxes.engine(HARBOUR)
        assert (await call(first, "quick")).result.is_error
        second = await boxes.engine(HARBOUR)
        assert "second_life" in second.names
        assert (await call(first, "quick")).text == "alive again"


async def test_a_server_that_could_not_be_had_is_tried_again_for_the_next_run(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    async with toolboxes(server("Good").model_copy(update={"args": (str(script),)})) as boxes:
        first = await boxes.engine(HARBOUR)
        assert first.names == ["calculator"]
        assert "No such file" in str(first.report.refusals[0])
        good = server("Good")
        script.write_text(
            f"import sys, runpy\nsys.argv[1:] = ['Good']\nrunpy.run_path({good.args[1]!r}, run_name='__main__')"
        )
        while (second := await boxes.engine(HARBOUR)) is first:
            pass
        assert "quick" in second.names
        assert not second.report.refusals


@pytest.mark.parametrize("way", ["Stateless", "Good"])
async def test_either_way_to_begin_is_spoken_over_pipes(way: str) -> None:
    async with toolboxes(server(way)) as boxes:
        engine = await boxes.engine(HARBOUR)
        done = await call(engine, "quick")
    assert ("io.modelcontextprotocol/protocolVersion" in done.text) is (way == "Stateless")


async def test_what_a_server_wants_to_ask_the_user_fails_the_call() -> None:
    async with toolboxes(server("Stateless")) as boxes:
        done = await call(await boxes.engine(HARBOUR), "echo", {"text": "?"})
    assert done.text == (
        "the tool echo failed: it asks for input from the user while it runs, which it is not given here"
    )


async def test_a_server_of_times_to_come_is_refused_with_the_versions_of_both() -> None:
    async with toolboxes(server("FutureOnly")) as boxes:
        engine = await boxes.engine(HARBOUR)
    assert "speaks the versions 2099-01-01; known here are 2024-11-05, " in str(engine.report.refusals[0])

"""Entries of an agent: written short or long, and the names that their tools have."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import EnfiladeError, ErrorCode
from tests.support.tool_calls import ForeignTool, call
from tests.tools.loading import TOOLS, Write, load, reason

pytestmark = pytest.mark.usefixtures("clean_imports")


async def test_two_tools_of_one_name_are_refused_and_both_origins_named(write: Write, tmp_path: Path) -> None:
    write("mine.py", "def calculator() -> None: ...\n")
    with pytest.raises(EnfiladeError) as caught:
        await load(tmp_path, "calculator", "mine.py")
    assert caught.value.code is ErrorCode.INVALID_PARAMS
    assert "two tools are named 'calculator': one from calculator (builtin) and one from mine.py (mine.py)" in str(
        caught.value
    )
    engine = await load(tmp_path, "calculator", ToolEntry(tool="mine.py", name="sums"))
    assert engine.names == ["calculator", "sums"]


async def test_the_same_entry_twice_is_one_tool(tmp_path: Path) -> None:
    engine = await load(tmp_path, "calculator", ToolEntry(tool="calculator", required=True))
    assert engine.names == ["calculator"]


async def test_a_tool_that_is_not_enabled_is_not_even_looked_for(tmp_path: Path) -> None:
    engine = await load(tmp_path, ToolEntry(tool="nowhere.py", enabled=False, required=True))
    assert engine.names == []
    assert not engine.report


def test_an_entry_may_be_written_short() -> None:
    class Agent(BaseModel):
        tools: list[ToolEntry]

    def mine() -> None: ...

    agent = Agent.model_validate(
        {"tools": ["calculator", {"tool": "x.py:f", "fixed": {"n": 0}}, mine, ForeignTool("t")]}
    )
    assert [entry.label for entry in agent.tools] == ["calculator", "x.py:f", "mine", "t"]
    assert agent.tools[1].fixed == {"n": 0}


@pytest.mark.parametrize(
    "entry", [{"tol": "x"}, {"tool": "x", "timeout": 0}, {"tool": 5}, {"tool": "x", "name": ""}, 5]
)
def test_an_entry_that_says_nothing_is_refused(entry: object) -> None:
    with pytest.raises(ValidationError):
        ToolEntry.model_validate(entry)


async def test_faults_of_an_entry_are_its_own(write: Write, tmp_path: Path) -> None:
    write("tools.py", TOOLS)
    unfit = await reason(tmp_path, ToolEntry(tool="tools.py:weather", fixed={"town": "Oban"}))
    assert (
        "the tool weather cannot be set up with its fixed parameters: it has no parameter 'town'. It has city" in unfit
    )
    many = await reason(tmp_path, ToolEntry(tool="tools.py", name="one"))
    assert "tools.py has 2 tools (weather, tide); name and description are for an entry with one" in many
    none = await reason(tmp_path, ToolEntry(tool="tools.py", fixed={"town": "Oban"}))
    assert "no tool of tools.py has a parameter 'town'" in none


async def test_fixed_parameters_of_several_tools_go_where_they_belong(write: Write, tmp_path: Path) -> None:
    write("tools.py", TOOLS)
    engine = await load(tmp_path, ToolEntry(tool="tools.py", fixed={"port": "Oban"}))
    assert [tool.parameters["properties"] for tool in engine.menu()] == [{"city": {"type": "string"}}, {}]
    assert (await call(engine, "tide")).text == '{"port":"Oban","high":"06:10"}'

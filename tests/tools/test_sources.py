"""Kinds of tool sources: what one brings, and what it may do wrong."""

import asyncio
from pathlib import Path

import pytest

from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.limits import ToolLimits
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import SourceKind, SourceRegistry
from enfilade.tools.source import PythonSetting
from enfilade.tools.tool import Tool, ToolSource
from enfilade_sdk.errors import EnfiladeError
from tests.support.tool_calls import ForeignTool, call

pytestmark = pytest.mark.usefixtures("clean_imports")


async def test_a_tool_whose_schema_cannot_be_used_is_named_and_the_others_of_its_source_stay(tmp_path: Path) -> None:
    class Source:
        origin = "server"

        async def load(self) -> list[Tool]:
            return [
                ForeignTool("good"),
                ForeignTool("bad", 7),
                ForeignTool("odd", {"properties": {"p": {"$ref": "#/x"}}}),
            ]

        async def aclose(self) -> None: ...

    registry = SourceRegistry(tmp_path, Threads())
    registry.register(SourceKind("server", lambda argument, setting: Source(), "a server"))
    engine = await load_tools([ToolEntry(tool="server")], registry)
    assert engine.names == ["good", "odd"]
    assert [str(refusal) for refusal in engine.report.refusals] == [
        "the tool 'bad' of server: its schema cannot be used: it is int '7'; expected an object schema"
    ]
    assert "refers to '#/x'" in engine.report.notes[0]
    assert engine.report
    engine = await load_tools([ToolEntry(tool="server", required=True)], registry)
    assert engine.names == ["good", "odd"]


async def test_a_required_source_whose_schemas_all_cannot_be_used_is_refused(tmp_path: Path) -> None:
    class Source:
        origin = "server"

        async def load(self) -> list[Tool]:
            return [ForeignTool("bad", 7), ForeignTool("worse", "?")]

        async def aclose(self) -> None: ...

    registry = SourceRegistry(tmp_path, Threads())
    registry.register(SourceKind("server", lambda argument, setting: Source(), "a server"))
    with pytest.raises(EnfiladeError, match="the tool 'bad' of server: its schema cannot be used"):
        await load_tools([ToolEntry(tool="server", required=True)], registry)


async def test_a_new_kind_of_source_is_one_registration(tmp_path: Path) -> None:
    closed = []

    class Source:
        def __init__(self, argument: str) -> None:
            self.origin = f"echo:{argument}"

        async def load(self) -> list[Tool]:
            return [ForeignTool("echo", answers=[self.origin])]

        async def aclose(self) -> None:
            closed.append(self.origin)

    def factory(argument: str, setting: PythonSetting) -> ToolSource:
        assert setting.folder == tmp_path
        return Source(argument)

    registry = SourceRegistry(tmp_path, Threads())
    registry.register(SourceKind("echo", factory, "gives back", "WORD"))
    engine = await load_tools([ToolEntry(tool="echo:hello:there", required=True)], registry)
    assert (await call(engine, "echo")).text == "echo:hello:there"
    assert "echo:WORD" in [tool.spec for tool in registry.available()]
    with pytest.raises(EnfiladeError, match="two kinds of tool sources are named 'echo'"):
        registry.register(SourceKind("echo", factory, "again"))
    await engine.aclose()
    assert closed == ["echo:hello:there"]


async def test_a_source_that_raises_or_hangs_is_named_and_those_loaded_are_closed(tmp_path: Path) -> None:
    closed = []

    class Source:
        def __init__(self, origin: str) -> None:
            self.origin = origin

        async def load(self) -> list[Tool]:
            if self.origin == "hangs":
                await asyncio.sleep(60)
            if self.origin == "raises":
                raise OSError("refused by /var/run/server.sock")
            return []

        async def aclose(self) -> None:
            closed.append(self.origin)

    registry = SourceRegistry(tmp_path, Threads())
    for name in ("hangs", "raises", "empty"):
        registry.register(SourceKind(name, lambda argument, setting, name=name: Source(name), "a server"))  # type: ignore[misc]
    entries = [ToolEntry(tool=name) for name in ("hangs", "raises", "empty", "calculator")]
    engine = await load_tools(entries, registry, ToolLimits(load_timeout=0.1))
    assert engine.names == ["calculator"]
    assert [str(refusal) for refusal in engine.report.refusals] == [
        "hangs did not load within 0.2 s",
        "raises: OSError: refused by server.sock",
        "empty offers no tools",
    ]
    closed.clear()
    with pytest.raises(EnfiladeError, match="raises: OSError"):
        await load_tools([*entries[2:], ToolEntry(tool="raises", required=True)], registry)
    assert sorted(closed) == ["empty", "raises"]

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from importlib_metadata import PathDistribution
from pydantic import BaseModel, ValidationError

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.limits import ToolLimits
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import GROUP, SourceKind, SourceRegistry
from enfilade.tools.source import PythonSetting
from enfilade.tools.threads import Threads
from enfilade.tools.tool import Tool, ToolSource
from enfilade_sdk.errors import EnfiladeError, ErrorCode
from tests.support.tool_calls import ForeignTool, call, engine_of


@pytest.fixture(autouse=True)
def _clean_imports() -> Iterator[None]:
    """Forgets what a test imported."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        module = sys.modules[name]
        if str(getattr(module, "__file__", "")).startswith(("/tmp/", "/private/")):
            del sys.modules[name]
    sys.path[:] = path


Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a Python file below the test's folder."""

    def write_file(name: str, source: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write_file


async def load(folder: Path, *entries: ToolEntry | str, limits: ToolLimits | None = None, **setting: Any) -> ToolEngine:
    """Loads entries that need not be there."""
    registry = SourceRegistry(folder, Threads(), **setting)
    wanted = [entry if isinstance(entry, ToolEntry) else ToolEntry(tool=entry) for entry in entries]
    return await load_tools(wanted, registry, limits)


async def reason(folder: Path, entry: ToolEntry | str, **setting: Any) -> str:
    """Why an entry could not be had: the same words in the report as in the error of one that is required."""
    engine = await load(folder, "calculator", entry, **setting)
    assert engine.names == ["calculator"]
    [refusal] = engine.report.refusals
    wanted = entry if isinstance(entry, ToolEntry) else ToolEntry(tool=entry)
    with pytest.raises(EnfiladeError) as caught:
        await load(folder, "calculator", wanted.model_copy(update={"required": True}), **setting)
    assert refusal.reason in caught.value.message
    assert refusal.code == caught.value.code.value
    assert refusal.origin in str(refusal)
    return caught.value.message


TOOLS = """
    def weather(city: str) -> str:
        "Tells the weather."
        return f"rain in {city}"

    async def tide(port: str) -> dict[str, str]:
        return {"port": port, "high": "06:10"}

    def _hidden() -> None: ...

    LIMIT = 3
"""


async def test_functions_of_a_file_are_tools(write: Write, tmp_path: Path) -> None:
    write("tools.py", TOOLS)
    async with engine_of("tools.py:weather", folder=tmp_path) as engine:
        assert engine.names == ["weather"]
        assert engine.menu()[0].description == "Tells the weather."
        done = await call(engine, "weather", {"city": "Oban"})
    assert done.text == "rain in Oban"
    assert done.result.details["provider"] == "tools.py"


@pytest.mark.parametrize("spec", ["tools.py", "tools.py:weather,tide", "tools:weather,tide"])
async def test_several_functions_of_a_file_may_be_asked_for_at_once(write: Write, tmp_path: Path, spec: str) -> None:
    write("tools.py", TOOLS)
    async with engine_of(spec, folder=tmp_path) as engine:
        assert engine.names == ["weather", "tide"]


async def test_a_file_says_itself_which_functions_are_public(write: Write, tmp_path: Path) -> None:
    write("tools.py", TOOLS + "\n    __all__ = ['tide']\n")
    async with engine_of("tools.py", folder=tmp_path) as engine:
        assert engine.names == ["tide"]


async def test_what_a_file_imports_is_not_its_own(write: Write, tmp_path: Path) -> None:
    write("tools.py", "from json import dumps\nfrom textwrap import *\nclass K: ...\ndef own() -> None: ...\n")
    async with engine_of("tools.py", folder=tmp_path) as engine:
        assert engine.names == ["own"]


async def test_a_file_is_imported_once_for_all_its_functions(write: Write, tmp_path: Path) -> None:
    write(
        "counting.py",
        "n = 0\ndef up() -> int:\n    global n\n    n += 1\n    return n\ndef look() -> int:\n    return n\n",
    )
    async with engine_of("counting.py:up", "counting.py:look", folder=tmp_path) as engine:
        await call(engine, "up")
        assert (await call(engine, "look")).text == "1"


async def test_a_method_of_an_object_in_a_file_is_a_tool(write: Write, tmp_path: Path) -> None:
    write("tools.py", "class Station:\n    def read(self) -> str:\n        return 'rain'\nstation = Station()\n")
    async with engine_of("tools.py:station.read", folder=tmp_path) as engine:
        assert (await call(engine, "read")).text == "rain"


async def test_functions_of_installed_modules_are_tools(tmp_path: Path) -> None:
    async with engine_of("textwrap:dedent", folder=tmp_path) as engine:
        assert (await call(engine, "dedent", "  x")).text == "x"


async def test_each_file_gets_its_own_neighbours(write: Write, tmp_path: Path) -> None:
    for who in ("alpha", "beta"):
        write(f"{who}/helper_of_both.py", f"WHO = {who!r}\n")
        write(f"{who}/{who}.py", f"from helper_of_both import WHO\ndef {who}() -> str:\n    return WHO\n")
    async with engine_of("alpha/alpha.py", "beta/beta.py", folder=tmp_path) as engine:
        assert [(await call(engine, who)).text for who in ("alpha", "beta")] == ["alpha", "beta"]


async def test_no_neighbour_stands_in_for_an_installed_module(write: Write, tmp_path: Path) -> None:
    write("csv.py", "raise RuntimeError('the wrong csv')\n")
    write("tools.py", "import csv\ndef name() -> str:\n    return csv.__name__ + str(hasattr(csv, 'reader'))\n")
    async with engine_of("tools.py", folder=tmp_path) as engine:
        assert (await call(engine, "name")).text == "csvTrue"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\n\nraise RuntimeError('boom at import')\n", "bad.py, line 3: RuntimeError: boom at import"),
        ("def f(:\n", "bad.py, line 1: SyntaxError: invalid syntax"),
        (
            "import nothing_of_that_name\n",
            "bad.py, line 1: ModuleNotFoundError: No module named 'nothing_of_that_name'",
        ),
        ("\nimport sys\nsys.exit(3)\n", "bad.py, line 3: SystemExit: 3"),
        ("def f():\n    raise ValueError('deep')\n\nf()\n", "bad.py, line 2: ValueError: deep"),
        ("raise RuntimeError('at /home/ann/secret/x.py')\n", "bad.py, line 1: RuntimeError: at x.py"),
        ("raise KeyError\n", "bad.py, line 1: KeyError"),
        ("LIMIT = 3\n", "bad.py defines no public function; name one: bad.py:FUNCTION"),
        ("\0", "bad.py"),
    ],
)
async def test_a_file_that_cannot_be_imported_is_named_with_reason_and_line(
    write: Write, tmp_path: Path, source: str, words: str
) -> None:
    write("bad.py", source)
    message = await reason(tmp_path, "bad.py")
    assert words in message
    assert "Traceback" not in message
    assert str(tmp_path) not in message


async def test_a_fault_in_a_neighbour_names_the_line_that_imports_it(write: Write, tmp_path: Path) -> None:
    write("broken_neighbour.py", "\n\n\nraise RuntimeError('inner')\n")
    write("bad.py", "x = 1\nimport broken_neighbour\ndef f() -> None: ...\n")
    assert await reason(tmp_path, "bad.py:f") == "bad.py, line 2: RuntimeError: inner"


async def test_a_file_that_hangs_at_its_import_is_given_up(write: Write, tmp_path: Path) -> None:
    write("hangs.py", "import threading\nthreading.Event().wait(5)\n")
    engine = await load(tmp_path, "hangs.py", "calculator", load_timeout=0.1)
    assert engine.names == ["calculator"]
    assert str(engine.report.refusals[0]) == "hangs.py: its import did not end within 0.1 s"


@pytest.mark.parametrize(
    ("spec", "words", "code"),
    [
        ("calculater", "there is no tool 'calculater'. Did you mean 'calculator'?", ErrorCode.TOOL_NOT_FOUND),
        ("zzz", "Known are: calculator, current_time, read_file", ErrorCode.TOOL_NOT_FOUND),
        ("tols.py", "there is no file 'tols.py'. Did you mean 'tools.py'?", ErrorCode.TOOL_FAILED),
        ("nowhere/tools.py", "There is no folder 'nowhere' either", ErrorCode.TOOL_FAILED),
        ("tools.py:wether", "there is no 'wether' in tools.py. Did you mean 'weather'?", ErrorCode.TOOL_NOT_FOUND),
        ("tools.py:LIMIT", "a int is no tool; expected a function or a tool", ErrorCode.TOOL_FAILED),
        ("textwrap:dedont", "there is no 'dedont' in textwrap. Did you mean 'dedent'", ErrorCode.TOOL_NOT_FOUND),
        ("no_such_module_zz:f", "there is no module 'no_such_module_zz', neither installed", ErrorCode.TOOL_FAILED),
        ("json.nothing:f", "there is no module 'json.nothing'", ErrorCode.TOOL_FAILED),
        ("read_file", "the tool 'read_file' needs to know more: read_file:FOLDER", ErrorCode.INVALID_PARAMS),
        ("read_file:nowhere", "there is no folder", ErrorCode.TOOL_FAILED),
        ("calculator:7", "the tool 'calculator' takes nothing after its name, got '7'", ErrorCode.INVALID_PARAMS),
        ("a-b:c", "'a-b:c' names no tool", ErrorCode.INVALID_PARAMS),
    ],
)
async def test_a_spec_that_leads_nowhere_is_refused_with_what_is_near(
    write: Write, tmp_path: Path, spec: str, words: str, code: ErrorCode
) -> None:
    write("tools.py", TOOLS)
    assert words in await reason(tmp_path, spec)
    engine = await load(tmp_path, spec)
    assert engine.report.refusals[0].code == code.value


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


# ---------------------------------------------------------------- names


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


# ---------------------------------------------------------------- entries


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


# ---------------------------------------------------------------- installed tools


def installed(tmp_path: Path, name: str, entries: str, module: str = "") -> PathDistribution:
    """A distribution as pip leaves it, with entry points and a module."""
    info = tmp_path / "site" / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}")
    (tmp_path / f"{name.replace('-', '_')}.py").write_text(textwrap.dedent(module))
    return PathDistribution(info)


async def test_tools_of_installed_packages_are_listed_unopened_and_imported_one_by_one(tmp_path: Path) -> None:
    good = installed(
        tmp_path, "tide-tools", "tide-table = tide_tools:table\n", "def table(port: str) -> str:\n    return port\n"
    )
    bad = installed(tmp_path, "bad-tools", "bad-tool = bad_tools:f\n", "raise RuntimeError('never imported')\n")
    points = [*good.entry_points, *bad.entry_points]
    registry = SourceRegistry(tmp_path, Threads(), installed=points)
    listed = {tool.spec: tool.origin for tool in registry.available()}
    assert listed["tide-table"] == "tide-tools"
    assert listed["bad-tool"] == "bad-tools"
    assert listed["calculator"] == "builtin"
    engine = await load_tools([ToolEntry(tool="tide-table", required=True)], registry)
    assert engine.names == ["tide-table"]
    assert (await call(engine, "tide-table", "Oban")).result.details["provider"] == "tide-tools"
    assert "bad_tools" not in sys.modules
    assert "RuntimeError: never imported" in await reason(tmp_path, "bad-tool", installed=points)
    assert "Did you mean 'tide-table'?" in await reason(tmp_path, "tide-tabel", installed=points)


async def test_two_packages_with_one_tool_name_are_both_named(tmp_path: Path) -> None:
    points = [
        *installed(tmp_path, "one-tools", "tide = one_tools:f\n").entry_points,
        *installed(tmp_path, "two-tools", "tide = two_tools:f\n").entry_points,
    ]
    message = await reason(tmp_path, "tide", installed=points)
    assert message == "the tool 'tide' is offered by one-tools and two-tools; uninstall all but one"


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize("body", ["import time\n    time.sleep(600)", "while True: pass"])
def test_a_function_that_never_ends_does_not_hold_up_the_end_of_the_process(tmp_path: Path, body: str) -> None:
    (tmp_path / "tools.py").write_text(f"def endless() -> None:\n    {body}\n")
    script = """
        import asyncio, sys
        from pathlib import Path
        from enfilade.tools.entry import ToolEntry
        from enfilade.tools.limits import ToolLimits
        from enfilade.tools.loader import load_tools
        from enfilade.tools.registry import SourceRegistry
        from enfilade.tools.threads import Threads
        from enfilade_sdk.prompts import ToolRequest

        async def main():
            registry = SourceRegistry(Path(sys.argv[1]), Threads())
            engine = await load_tools([ToolEntry(tool="tools.py")], registry, ToolLimits(timeout=0.2))
            print([item async for item in engine.invoke(ToolRequest("endless", ""))][-1].text)
            await engine.aclose()
            registry.close()

        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.startswith("the tool endless did not end within 0.2 s")
    assert done.stderr == ""

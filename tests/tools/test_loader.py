import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from enfilade_sdk.errors import ErrorCode
from tests.support.tool_calls import call, engine_of
from tests.tools.loading import TOOLS, Write, load, reason

pytestmark = pytest.mark.usefixtures("clean_imports")


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
        from enfilade.tools.functions.threads import Threads
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

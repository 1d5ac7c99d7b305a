import os
import subprocess
import time
from pathlib import Path

import pytest

from enfilade.environments.bytecode import Bytecode
from enfilade.environments.command import Place
from enfilade.environments.entry import PluginEntry
from enfilade.environments.hold import take_hold
from enfilade.environments.interpreter import find_interpreter
from enfilade.environments.store import PluginStore
from enfilade.environments.tree import read_tree
from tests.environments.openers import import_opener
from tests.environments.wheels import write_plugin


def compiled(entry: PluginEntry) -> dict[str, bytes]:
    """The byte code in an environment, by its place; modules of one source share theirs once it is kept."""
    return {str(path.relative_to(entry.venv)): path.read_bytes() for path in entry.venv.rglob("*.pyc")}


def errors_of(entry: PluginEntry, code: str) -> str:
    return subprocess.run([entry.python, "-I", "-B", "-c", code], capture_output=True, text=True, check=False).stderr


async def test_every_module_that_compiles_has_byte_code(store: PluginStore, wheelhouse: Path) -> None:
    odd = {"greeter/broken.py": "def", "greeter/data.txt": "x"}
    entry = await store.add(str(write_plugin(wheelhouse, "greeter", files=odd)), import_opener)
    names = {Path(name).name.partition(".")[0] for name in compiled(entry)}
    assert names == {"__init__", "strategy"}


async def test_byte_code_is_used_again_and_is_the_same(store: PluginStore, wheelhouse: Path) -> None:
    wheel = str(write_plugin(wheelhouse, "greeter"))
    first = await store.add(wheel, import_opener)
    before = compiled(first)
    kept = sorted((store.root / "bytecode").glob("*/*/*"))
    assert len(kept) == 2  # one for both empty modules
    stamps = [path.stat().st_mtime_ns for path in kept]
    after = compiled(await store.update("greeter", import_opener))
    assert after.keys() == before.keys()
    assert [code for name, code in after.items() if "strategy" in name] == [
        code for name, code in before.items() if "strategy" in name
    ]
    assert [path.stat().st_mtime_ns for path in kept] == stamps
    assert sorted((store.root / "bytecode").glob("*/*/*")) == kept


async def test_kept_byte_code_that_is_damaged_is_made_anew(store: PluginStore, wheelhouse: Path) -> None:
    before = compiled(await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener))
    for path in (store.root / "bytecode").glob("*/*/*"):
        path.write_bytes(path.read_bytes()[:-1])
    after = compiled(await store.update("greeter", import_opener))
    assert {name: len(code) for name, code in after.items()} == {name: len(code) for name, code in before.items()}


async def test_a_trace_back_names_the_environment_it_runs_in(store: PluginStore, wheelhouse: Path) -> None:
    answer = "1 / 0"
    write_plugin(wheelhouse, "greeter", answer=answer)
    await store.add("greeter", import_opener)
    entry = await store.update("greeter", import_opener)  # its byte code was made for the first environment
    said = errors_of(entry, "from greeter.strategy import Strategy; list(Strategy().invoke(params={}))")
    assert "ZeroDivisionError" in said
    assert f'File "{entry.venv}/lib' in said


async def test_no_code_that_was_installed_runs_before_the_plugin_is_opened(
    store: PluginStore, wheelhouse: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    hook = f"import pathlib; pathlib.Path({str(trace)!r}).touch()"
    seen: list[bool] = []

    def look(step: object) -> None:
        seen.append(trace.exists())

    wheel = write_plugin(wheelhouse, "greeter", files={"greeter.pth": hook, "sitecustomize.py": hook})
    await store.add(str(wheel), import_opener, progress=look)
    assert not any(seen[:-1])
    assert trace.exists()  # the opener's interpreter ran it: the hook does work


@pytest.mark.parametrize("days", [1, 100])
async def test_byte_code_that_was_not_used_for_long_is_dropped(tmp_path: Path, days: int) -> None:
    old = tmp_path / "cache" / "3.11.0" / "aa" / "aabb"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"x")
    then = time.time() - days * 86_400
    os.utime(old, (then, then))
    module = tmp_path / "venv" / "lib" / "site-packages" / "m.py"
    module.parent.mkdir(parents=True)
    module.write_text("x = 1")
    hold = take_hold(tmp_path, exclusive=True)
    assert hold is not None
    with hold:
        place = Place(tmp_path, hold)
        interpreter = await find_interpreter(None, place)
        files = read_tree(tmp_path / "venv").files
        await Bytecode(tmp_path / "cache").compile(tmp_path / "venv", files, interpreter, place)
    assert old.exists() == (days == 1)
    assert len(list(module.parent.glob("__pycache__/m.*.pyc"))) == 1

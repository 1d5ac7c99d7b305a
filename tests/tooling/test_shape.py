"""The shape of the project: files that can be read at once, and tests and benchmarks whose imports go one way.

For the packages import-linter holds the latter (`pyproject.toml`).
"""

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("benchmarks", "examples", "host", "plugin_sdk", "plugins", "tests")
MOST_LINES = 500
IMPORT = re.compile(
    r"^\s*(?:from ((?:tests|benchmarks)[\w.]*) import ([\w, ]+|\()|import ((?:tests|benchmarks)[\w.]*))", re.MULTILINE
)


def sources(top: str) -> list[Path]:
    return [path for path in (ROOT / top).rglob("*.py") if not {".venv", "build"} & set(path.parts)]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports() -> dict[str, set[str]]:
    """What each file of the tests and benchmarks imports of them, in functions too."""
    files = {module_of(path): path for top in ("tests", "benchmarks") for path in sources(top)}
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        found[module] = set()
        for source, names, plain in IMPORT.findall(path.read_text(encoding="utf-8")):
            inner = [f"{source}.{name.strip()}" for name in names.split(",")]
            found[module] |= {name for name in (*inner, source, plain) if name in files} - {module}
    return found


def in_rooms(found: Mapping[str, set[str]], depth: int) -> dict[str, set[str]]:
    """The same, of rooms."""
    rooms: dict[str, set[str]] = {}
    for module, others in found.items():
        room = ".".join(module.split(".")[:depth])
        rooms.setdefault(room, set()).update(".".join(other.split(".")[:depth]) for other in others)
    return {room: others - {room} for room, others in rooms.items()}


@pytest.mark.parametrize("depth", [2, 3, 9])
def test_tests_and_benchmarks_import_each_other_in_no_circle(depth: int) -> None:
    try:
        TopologicalSorter(in_rooms(imports(), depth)).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    written = [path for top in TOPS for path in sources(top)]
    assert len(written) > 900
    lines = {path: path.read_bytes().count(b"\n") for path in written}
    assert {str(path): number for path, number in lines.items() if number > MOST_LINES} == {}

"""What the documents show is what there is: their code is run, their examples are files."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def blocks(document: Path, language: str) -> list[str]:
    return [code for name, code in BLOCK.findall(document.read_text(encoding="utf-8")) if name == language]


SHOWN = [
    (code.splitlines()[0].removeprefix("# "), code)
    for language in ("python", "toml")
    for code in blocks(ROOT / "README.md", language)
    if code.startswith("# examples/")
]


@pytest.mark.parametrize(("name", "code"), SHOWN, ids=[name for name, _ in SHOWN])
def test_an_example_in_the_readme_is_the_file_it_names(name: str, code: str) -> None:
    shown = [line for line in code.splitlines()[1:] if line]
    there = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line]
    assert there[0].startswith('"""') or there == shown
    assert [line for line in there if line in shown] == shown


def test_the_readme_shows_every_example_it_has() -> None:
    assert {name for name, _ in SHOWN} == {
        f"examples/{name}" for name in ("tide.py", "harbour.toml", "ask.py", "echo_sdk.py", "echo_plain.py")
    }


def test_the_code_in_writing_a_strategy_runs_and_its_tests_pass() -> None:
    space: dict[str, Any] = {}
    for code in blocks(ROOT / "docs" / "writing-a-strategy.md", "python"):
        exec(compile(code, "writing-a-strategy.md", "exec"), space)
    tests = [value for name, value in space.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_to_files_of_the_project_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target

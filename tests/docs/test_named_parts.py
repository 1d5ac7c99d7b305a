"""What documents and docstrings name is there: files, folders, modules, classes."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

from enfilade.telemetry import names
from enfilade_sdk.errors import ErrorCode

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
MAPS = {"README.md", "architecture.md", "decisions.md"}
"""The documents that speak of this project's files alone; others have files of their readers too."""

TOPS = ("benchmarks", "docs", "examples", "host", "plugin_sdk", "plugins", "proto", "requirements", "tests")
PACKAGES = ("proto", "plugin_sdk", "host", "plugins/function_calling", "plugins/chain_of_thought")
SOURCES = sorted(
    file for folder in PACKAGES for file in (ROOT / folder).rglob("*.py") if "site-packages" not in str(file)
)
DOTTED = re.compile(r"`((?:enfilade|enfilade_sdk|enfilade_fc|enfilade_cot|enfilade_wire)(?:\.[A-Za-z_]\w*)+)`")
TOLD = {value for value in vars(names).values() if isinstance(value, str)} | {"enfilade.toml"}
"""What looks like a module and is the name of something that is told to telemetry, or a file."""


def places() -> set[str]:
    """The files and folders of the project by every end of their paths."""
    found: set[str] = set()
    for top in TOPS:
        for path in [ROOT / top, *(ROOT / top).rglob("*")]:
            parts = path.relative_to(ROOT).parts
            if "__pycache__" not in parts:
                found |= {"/".join(parts[start:]) for start in range(len(parts))}
    return found


PLACES = places()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_files_and_folders_that_a_document_names_are_there(document: Path) -> None:
    named = re.findall(r"`([\w./-]+(?:\.py|\.proto|/))`", document.read_text(encoding="utf-8"))
    ours = [
        name for name in named if document.name in MAPS or name.startswith(("enfilade", *(f"{top}/" for top in TOPS)))
    ]
    assert [name for name in ours if name.rstrip("/") not in PLACES] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_modules_and_classes_that_a_document_names_are_there(document: Path) -> None:
    assert missing(document) == []


def test_modules_and_classes_that_docstrings_name_are_there() -> None:
    assert [(file.name, name) for file in SOURCES for name in missing(file)] == []


def test_the_page_of_the_wire_has_every_code() -> None:
    page = (ROOT / "docs" / "wire.md").read_text(encoding="utf-8")
    assert [code.value for code in ErrorCode if f"`{code.value}`" not in page] == []


def missing(file: Path) -> list[str]:
    """The dotted names in a file that lead nowhere."""
    named = set(DOTTED.findall(file.read_text(encoding="utf-8")))
    return sorted(name for name in named - TOLD if not leads_somewhere(name))


def leads_somewhere(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    module, rest = opened(name)
    found: object = module
    for part in rest:
        found = getattr(found, part, None)
    return found is not None


def opened(name: str) -> tuple[ModuleType, list[str]]:
    """The innermost module in a dotted name, and what is left of the name."""
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        try:
            return importlib.import_module(".".join(parts[:end])), parts[end:]
        except ModuleNotFoundError:
            continue
    return importlib.import_module(parts[0]), parts[1:]

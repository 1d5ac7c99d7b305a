"""What only plugins' processes import is compiled for them."""

import subprocess
import sys
from pathlib import Path

import pytest

from enfilade.isolation.bytecode import compile_missing


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that can be found, with a module that must not be imported and one that cannot be compiled."""
    folder = tmp_path / "seldom_seen"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('imported')\n")
    (folder / "strategy.py").write_text("raise AssertionError('imported')\n")
    (folder / "broken.py").write_text("def (\n")
    (folder / "nested.py").write_text("x = " + "-" * 100_000 + "1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return folder


def test_a_package_without_byte_code_is_compiled_and_not_imported(package: Path) -> None:
    compile_missing(["seldom_seen.strategy"])
    assert sorted(path.name.partition(".")[0] for path in package.glob("__pycache__/*.pyc")) == ["__init__", "strategy"]
    assert "seldom_seen" not in sys.modules


def test_what_is_compiled_is_left_alone(package: Path) -> None:
    compile_missing(["seldom_seen.strategy"])
    (made,) = package.glob("__pycache__/strategy.*")
    before = made.stat().st_mtime_ns
    compile_missing(["seldom_seen.strategy"])
    assert made.stat().st_mtime_ns == before


def test_nothing_is_written_where_nothing_is_to_be(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compile_missing(["seldom_seen.strategy"])
    assert not list(package.glob("__pycache__/*"))


@pytest.mark.parametrize("module", ["nowhere.strategy", "os", "seldom_seen.no_such", "json.decoder", ""])
def test_modules_that_are_not_there_or_are_no_files_are_passed_over(package: Path, module: str) -> None:
    compile_missing([module])
    assert subprocess.run([sys.executable, "-c", "import json"], check=False).returncode == 0

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.loading import Write


@pytest.fixture
def clean_imports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forgets what a test imported."""
    here = str(tmp_path_factory.getbasetemp())
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        module = sys.modules[name]
        if str(getattr(module, "__file__", "")).startswith(here):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def write(tmp_path: Path, clean_imports: None) -> Write:
    """Writes a Python file below the test's folder."""

    def write_file(name: str, source: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write_file

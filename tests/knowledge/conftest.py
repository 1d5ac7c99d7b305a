"""Parts that the tests of knowledge bases share."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.knowledge.files import CHINESE, GUIDE, PAGE, pdf_of
from tests.support.enfilade_command import Enfilade


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in a folder with documents in `docs`; whatever it starts must be gone at the end."""
    runtime = Path(tempfile.mkdtemp(prefix="knowledge-", dir="/tmp"))
    command = Enfilade(tmp_path, runtime)
    command.write("docs/guide.md", GUIDE)
    command.write("docs/zh.md", CHINESE)
    command.write("docs/page.html", PAGE)
    (tmp_path / "docs" / "rules.pdf").write_bytes(pdf_of("Dogs are welcome."))
    yield command
    left = command.left_behind()
    shutil.rmtree(runtime)
    assert left == []


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Where the command keeps the knowledge base `docs`."""
    return tmp_path / ".local" / "share" / "enfilade" / "knowledge" / "docs.db"

"""Parts that the tests of the command line share."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.enfilade_command import Enfilade


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in an empty folder; whatever it starts must be gone at the end."""
    runtime = Path(tempfile.mkdtemp(prefix="cli-test-", dir="/tmp"))
    command = Enfilade(tmp_path, runtime)
    yield command
    left = command.left_behind()
    shutil.rmtree(runtime)
    assert left == []

"""Parts that the tests of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.enfilade_command import Enfilade, emptied


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in an empty folder; whatever it starts must be gone at the end."""
    with emptied() as runtime:
        yield Enfilade(tmp_path, runtime)

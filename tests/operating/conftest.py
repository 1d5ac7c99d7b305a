"""Parts that the tests of operating share: the command with a root of its own, and wheels to install from."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environments.wheels import write_installed
from tests.operating.operator import Operator


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the SDK needs, as wheels made of what is installed beside the tests."""
    folder = tmp_path_factory.mktemp("parts")
    for name in ("pydantic", "grpcio", "protobuf"):
        write_installed(folder, name)
    return folder


@pytest.fixture(scope="session")
def tool_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tool-cache")


@pytest.fixture
def operator(tmp_path: Path, parts: Path, tool_cache: Path) -> Iterator[Operator]:
    """The command in an empty folder, offline; whatever it starts must be gone at the end."""
    runtime = Path(tempfile.mkdtemp(prefix="op-test-", dir="/tmp"))
    operator = Operator.in_folder(tmp_path, runtime, parts, tool_cache)
    yield operator
    left = operator.command.left_behind()
    shutil.rmtree(runtime)
    assert left == []
    assert operator.staging() == set(), "environments are left that plugins.lock does not name"

from pathlib import Path

import pytest

from enfilade.environments.sdk import Sdk
from enfilade.environments.sources import Sources
from enfilade.environments.store import PluginStore
from tests.environments.wheels import write_wheel


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uv-cache")


@pytest.fixture(autouse=True)
def own_tools(monkeypatch: pytest.MonkeyPatch, uv_cache: Path) -> None:
    """The installers see nothing of this machine's settings but where commands are."""
    for name in ("UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_FIND_LINKS", "PIP_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(uv_cache))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


@pytest.fixture(scope="session")
def tiny_sdk(tmp_path_factory: pytest.TempPathFactory) -> Sdk:
    """A stand-in for the SDK with no requirements of its own, for tests in which no guest is started."""
    folder = tmp_path_factory.mktemp("tiny-sdk")
    write_wheel(folder, "enfilade-sdk", "0.1.0", {"enfilade_sdk/__init__.py": ""})
    return Sdk("enfilade-sdk<=0.1.0", folder)


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path, wheelhouse: Path, tiny_sdk: Sdk) -> PluginStore:
    return PluginStore(tmp_path / "root", offline_sources(wheelhouse), sdk=tiny_sdk)


def offline_sources(wheelhouse: Path) -> Sources:
    return Sources((str(wheelhouse),), no_index=True, offline=True)

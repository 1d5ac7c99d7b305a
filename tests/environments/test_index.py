"""Installing from a registry: a real index on this machine, over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.sdk import Sdk
from enfilade.environments.sources import Sources, tool_environment
from enfilade.environments.store import PluginStore
from tests.environments.index import Index, serving
from tests.environments.openers import import_opener
from tests.environments.wheels import write_plugin, write_wheel


@pytest.fixture
def index(wheelhouse: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    with serving(wheelhouse) as index:
        monkeypatch.setenv("UV_DEFAULT_INDEX", index.url())
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
        yield index


@pytest.fixture
def online(tmp_path: Path, tiny_sdk: Sdk) -> PluginStore:
    return PluginStore(tmp_path / "root", Sources(), sdk=tiny_sdk)


def names_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


def text_below(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file() and "venv" not in path.parts]
    return "\n".join(path.read_text(errors="replace") for path in files)


async def test_a_password_of_the_index_is_used_and_shown_nowhere(
    online: PluginStore, index: Index, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.url("reader:wordofpass@"))
    write_plugin(wheelhouse, "greeter")
    told: list[object] = []
    await online.add("greeter", import_opener, progress=told.append)
    with pytest.raises(InstallError) as caught:
        await online.add("missing", import_opener, progress=told.append)
    assert any(header for header in index.seen)
    shown = f"{told}{caught.value.message}{caught.value.details}{text_below(online.root)}"
    assert "wordofpass" not in shown


async def test_a_file_that_changes_between_choosing_and_installing_is_refused(
    online: PluginStore, index: Index, wheelhouse: Path
) -> None:
    write_plugin(wheelhouse, "greeter", requires=["part"])
    part = write_wheel(wheelhouse, "part", files={"part.py": "x = 1"})

    def swap(step: object) -> None:
        if "installing 3 packages" in str(step):
            other = write_wheel(wheelhouse / "evil", "part", files={"part.py": "raise SystemExit"})
            index.swapped[part.name] = other.read_bytes()

    with pytest.raises(InstallError, match=r"Hash mismatch for `part==1.0.0`") as caught:
        await online.add("greeter", import_opener, progress=swap)
    assert caught.value.reason is Reason.INSTALLER_FAILED
    assert online.entries() == []


@pytest.mark.parametrize("with_metadata", [True, False])
@pytest.mark.parametrize("member", ["inner/../../neighbour/main.py", "../../../../../escaped.txt", "/tmp/escaped.txt"])
async def test_an_archive_of_the_index_with_a_path_outside_is_refused_each_time_and_nothing_is_written_outside(
    online: PluginStore, index: Index, wheelhouse: Path, tmp_path: Path, member: str, with_metadata: bool
) -> None:
    index.with_metadata = with_metadata
    write_plugin(wheelhouse, "plug", odd=[(member, "x")])
    for _ in range(2):  # the second time the installer has it in its cache
        with pytest.raises(InstallError, match="has a member that must not be unpacked") as caught:
            await online.add("plug", import_opener)
        assert caught.value.reason is Reason.UNSAFE_ARCHIVE
    assert online.entries() == []
    assert {"main.py", "escaped.txt"} & names_below(tmp_path) == set()


@pytest.mark.parametrize("file", ["pyvenv.cfg", "bin/activate"])
async def test_a_package_that_changes_the_environments_own_files_is_refused(
    online: PluginStore, index: Index, wheelhouse: Path, file: str
) -> None:
    write_plugin(wheelhouse, "plug", files={f"plug-1.0.0.data/data/{file}": "home = /evil"})
    with pytest.raises(InstallError) as caught:
        await online.add("plug", import_opener)
    assert caught.value.reason is Reason.UNSAFE_ARCHIVE
    assert f"{file} was changed" in caught.value.message


async def test_a_package_cannot_take_the_place_of_the_interpreter(
    online: PluginStore, index: Index, wheelhouse: Path
) -> None:
    write_plugin(wheelhouse, "plug", files={"plug-1.0.0.data/data/bin/python": "#!/bin/sh"})
    with pytest.raises(InstallError):
        await online.add("plug", import_opener)
    assert online.entries() == []


async def test_offline_is_said_to_be_offline(online: PluginStore, tiny_sdk: Sdk) -> None:
    offline = PluginStore(online.root, Sources(offline=True), sdk=tiny_sdk)
    with pytest.raises(InstallError) as caught:
        await offline.add("greeter", import_opener)
    assert "offline" in caught.value.message or "network" in caught.value.message


async def test_an_index_that_is_not_there_is_a_failure_with_the_tools_words(
    online: PluginStore, monkeypatch: pytest.MonkeyPatch, wheelhouse: Path
) -> None:
    with serving(wheelhouse) as gone:
        address = gone.url()
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(InstallError, match=r"uv could not find what greeter needs") as caught:
        await online.add("greeter", import_opener)
    assert address.removeprefix("http://").partition("/")[0] in caught.value.message


def test_an_installer_inherits_only_what_it_needs() -> None:
    variables = {
        "PATH": "/bin",
        "https_proxy": "http://proxy.invalid",
        "UV_INDEX_INTERNAL_PASSWORD": "x",
        "UV_DEFAULT_INDEX": "y",
        "OPENAI_API_KEY": "secret",
        "PYTHONPATH": "/elsewhere",
        "VIRTUAL_ENV": "/elsewhere",
        "UV_PYTHON": "/elsewhere",
        "UV_LINK_MODE": "hardlink",
        "PIP_TARGET": "/elsewhere",
        "LD_PRELOAD": "/elsewhere.so",
    }
    assert set(tool_environment(variables)) == {
        "PATH",
        "https_proxy",
        "UV_INDEX_INTERNAL_PASSWORD",
        "UV_DEFAULT_INDEX",
    }

import tarfile
from pathlib import Path

import pytest

from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.store import PluginStore
from tests.environments.openers import import_opener
from tests.environments.wheels import STRATEGY, write_installed, write_plugin

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "greeter"
version = "1.0.0"

[project.entry-points."enfilade.strategies"]
greeter = "greeter.strategy:Strategy"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    (folder / "greeter").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "greeter" / "__init__.py").touch()
    (folder / "greeter" / "strategy.py").write_text(STRATEGY.format(answer="'hello'"))
    return folder


async def test_a_folder_is_not_built_unless_that_is_allowed(store: PluginStore, project: Path) -> None:
    with pytest.raises(InstallError, match=r"has to be built, which runs its code with your rights") as caught:
        await store.add(str(project), import_opener)
    assert caught.value.reason is Reason.BUILD_REFUSED
    assert list((store.root / "environments").iterdir()) == []


async def test_a_folder_is_built_when_that_is_allowed_and_left_as_it_was(
    store: PluginStore, project: Path, wheelhouse: Path
) -> None:
    write_installed(wheelhouse, "hatchling")
    before = names_below(project)
    entry = await store.add(str(project), import_opener, allow_build=True)
    assert (entry.name, entry.version, entry.spec, entry.allow_build) == ("greeter", "1.0.0", str(project), True)
    assert names_below(project) == before
    with pytest.raises(InstallError, match="has to be built"):  # leave to build is given each time
        await store.update("greeter", import_opener)
    assert (await store.update("greeter", import_opener, allow_build=True)).version == "1.0.0"


async def test_a_build_that_fails_shows_its_last_lines_and_leaves_nothing(
    store: PluginStore, project: Path, wheelhouse: Path
) -> None:
    write_installed(wheelhouse, "hatchling")
    (project / "pyproject.toml").write_text(PROJECT.replace('version = "1.0.0"', 'version = "not a version"'))
    with pytest.raises(InstallError, match=r"(?s)uv could not build .*Its last lines:.*not a version") as caught:
        await store.add(str(project), import_opener, allow_build=True)
    assert caught.value.reason is Reason.INSTALLER_FAILED
    assert list((store.root / "environments").iterdir()) == []


async def test_a_plugin_that_is_there_only_as_source_is_refused_with_what_to_do(
    store: PluginStore, project: Path, wheelhouse: Path
) -> None:
    archive(project, wheelhouse)
    with pytest.raises(InstallError, match=r"there is no wheel, and building.*was not allowed") as caught:
        await store.add("greeter", import_opener)
    assert caught.value.reason is Reason.BUILD_REFUSED


async def test_a_dependency_that_is_there_only_as_source_is_built_when_that_is_allowed(
    store: PluginStore, project: Path, wheelhouse: Path
) -> None:
    write_installed(wheelhouse, "hatchling")
    archive(project, wheelhouse)
    outer = write_plugin(wheelhouse, "outer", requires=["greeter"])
    with pytest.raises(InstallError, match="there is no wheel"):
        await store.add(str(outer), import_opener)
    entry = await store.add(str(outer), import_opener, allow_build=True)
    [package] = [package for package in entry.packages if package.name == "greeter"]
    assert package.files == ("greeter-1.0.0.tar.gz",)


def names_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def archive(project: Path, folder: Path) -> None:
    (project / "PKG-INFO").write_text("Metadata-Version: 2.2\nName: greeter\nVersion: 1.0.0\n")
    with tarfile.open(folder / "greeter-1.0.0.tar.gz", "w:gz") as file:
        file.add(project, "greeter-1.0.0")

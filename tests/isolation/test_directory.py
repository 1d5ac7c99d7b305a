"""Where launches keep their private files: short paths wherever the host's own folders are."""

import os
import shutil
from pathlib import Path

import pytest

from enfilade.errors import ConfigError, LaunchError
from enfilade.isolation import directory
from enfilade.isolation.directory import PATH_LIMIT, make_directory, remove_directory
from enfilade.isolation.launcher import Launcher
from tests.support.faulty_guest import offering, started
from tests.support.trial_run import texts

DEEP = "/".join(["deep-folder-name"] * 8)


@pytest.mark.parametrize("folder", [DEEP, "潮汐/空 格", "a%20b", "a?b#c", "a;b"])
@pytest.mark.parametrize("variable", ["TMPDIR", "XDG_RUNTIME_DIR"])
async def test_guests_run_wherever_the_folders_are(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, variable: str
) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True)
    monkeypatch.delenv("ENFILADE_RUNTIME_DIR", raising=False)
    monkeypatch.setenv(variable, str(place))
    monkeypatch.chdir(place)
    async with started(launcher, offering("at_run:Works")) as guest:
        assert len(await texts(guest, "Works")) == 1


@pytest.mark.parametrize("folder", ["空 格", "a%20b", "a?b#c", "a;b"])
async def test_a_socket_can_be_in_a_folder_of_any_name(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    place = Path("/tmp") / f"t{os.getpid()}" / folder
    place.mkdir(parents=True)
    monkeypatch.setenv("ENFILADE_RUNTIME_DIR", str(place))
    try:
        async with started(launcher, offering("at_run:LeavesFiles")) as guest:
            (where,) = await texts(guest, "LeavesFiles")
            assert Path(where).parent == place
    finally:
        shutil.rmtree(place.parent)


async def test_a_temporary_folder_that_cannot_be_written_is_passed_over(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENFILADE_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", "/proc")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/proc/self")
    async with started(launcher, offering("at_run:Works")) as guest:
        assert len(await texts(guest, "Works")) == 1


def test_when_no_place_will_do_the_error_names_each_and_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deep = tmp_path / DEEP
    deep.mkdir(parents=True)
    places = [str(deep), "/proc", "relative", "/tmp/a,b"]
    monkeypatch.delenv("ENFILADE_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(directory, "_places", lambda: places)
    with pytest.raises(LaunchError) as caught:
        make_directory()
    text = caught.value.message
    assert f"{deep}: its path is over {PATH_LIMIT} bytes" in text
    assert "/proc: No such file or directory" in text
    assert "relative: it is not an absolute path" in text
    assert "/tmp/a,b: its path has a comma" in text
    assert "a socket's path holds 107 bytes" in text
    assert text.endswith("set ENFILADE_RUNTIME_DIR to a short, writable directory")
    assert list(deep.iterdir()) == []


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("/proc/no/such/place", "No such file or directory"),
        ("relative", "it is not an absolute path"),
        ("/tmp/a,b", "its path has a comma"),
        (f"{{}}/{DEEP}", f"its path is over {PATH_LIMIT} bytes"),
    ],
)
def test_a_place_that_is_named_and_does_not_serve_is_told_and_no_other_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, reason: str
) -> None:
    (tmp_path / DEEP).mkdir(parents=True)
    named = place.format(tmp_path)
    monkeypatch.setenv("ENFILADE_RUNTIME_DIR", named)
    with pytest.raises(ConfigError) as caught:
        make_directory()
    assert caught.value.message.startswith("ENFILADE_RUNTIME_DIR does not serve for plugins' private directories")
    assert f"{named}: {reason}" in caught.value.message
    assert caught.value.message.endswith("name a short, writable directory, or leave it out")
    assert list((tmp_path / DEEP).iterdir()) == []


async def test_a_plugin_does_not_start_where_the_place_that_is_named_does_not_serve(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENFILADE_RUNTIME_DIR", "/proc/no/such/place")
    with pytest.raises(ConfigError, match="ENFILADE_RUNTIME_DIR does not serve"):
        async with started(launcher, offering("at_run:Works")) as guest:
            await texts(guest, "Works")


@pytest.mark.parametrize("name", ["other", "enf-x-y", "enf-1"])
def test_only_private_directories_are_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    remove_directory(str(tmp_path / name))
    assert (tmp_path / name).exists()


def test_a_directory_is_its_owners_alone_and_carries_the_hosts_number() -> None:
    path = make_directory()
    try:
        assert Path(path).stat().st_mode & 0o777 == 0o700
        assert Path(path).name.startswith(f"enf-{os.getpid()}-")
    finally:
        remove_directory(path)
    assert not Path(path).exists()

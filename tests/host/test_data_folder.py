"""One folder for all that is kept."""

from pathlib import Path

import pytest

from enfilade.environments.folders import default_root
from enfilade.errors import ConfigError
from enfilade.running.places import hosts_folder, logs_folder
from enfilade.settings.data_folder import data_folder
from enfilade.store.settings import default_file
from enfilade.tools.knowledge.place import bases_folder


def places() -> list[Path]:
    return [default_file(), bases_folder(), default_root(), hosts_folder(), logs_folder()]


NAMES = ["records.db", "knowledge", "plugins", "hosts", "logs"]


def test_one_variable_moves_all_that_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ENFILADE_PLUGINS_DIR", raising=False)
    monkeypatch.setenv("ENFILADE_DATA_DIR", str(tmp_path / "kept"))
    assert places() == [tmp_path / "kept" / name for name in NAMES]
    monkeypatch.setenv("ENFILADE_DATA_DIR", "~/kept")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / "kept"


def test_a_relative_one_starts_from_the_current_folder_and_says_when_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ENFILADE_PLUGINS_DIR", raising=False)
    monkeypatch.setenv("ENFILADE_DATA_DIR", "kept")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert places() == [folder / "kept" / name for name in NAMES]
    folder.rmdir()
    with pytest.raises(ConfigError, match="the current folder was deleted"):
        places()


def test_without_it_all_is_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ENFILADE_PLUGINS_DIR", raising=False)
    monkeypatch.delenv("ENFILADE_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert places() == [tmp_path / "enfilade" / name for name in NAMES]

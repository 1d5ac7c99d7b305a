import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from enfilade.candidate import Offer
from enfilade.environments import lockfile
from enfilade.environments.entry import Package, PluginEntry
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.folders import Folders
from enfilade.environments.lockfile import LockFile


def entry(root: Path, name: str = "Greeter") -> PluginEntry:
    return PluginEntry(
        name=name,
        version="1.0",
        spec=name,
        enabled=True,
        folder=root / "environments" / f"{name.lower()}-1234",
        interpreter="/usr/bin/python3.11",
        python_version="3.11.7",
        allow_build=False,
        installer="uv 0.13.9",
        installed="2026-11-30T12:00:00+00:00",
        tree="sha256:00",
        packages=(Package("greeter", "1.0", ("greeter-1.0-py3-none-any.whl",), ("00",)),),
        offers=(Offer("greet", "greeter.strategy:Greet"),),
        descriptions=({"name": "greet", "label": {"en_US": "Grüße"}, "parameters": [{"name": "x"}]},),
    )


@pytest.fixture
def lock(tmp_path: Path) -> LockFile:
    return LockFile(Folders(tmp_path))


def test_what_is_written_is_read(lock: LockFile, tmp_path: Path) -> None:
    entries = [entry(tmp_path, "b"), entry(tmp_path, "A")]
    lock.write(entries)
    assert list(lock.read().values()) == sorted(entries, key=lambda e: e.key)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plugins.lock"]


def test_without_a_file_nothing_is_installed(lock: LockFile) -> None:
    assert lock.read() == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": 1}',
        '{"format": 1, "plugins": [{}]}',
        '{"format": 1, "plugins": 5}',
        '{"format": 1, "plugins": [5]}',
    ],
)
def test_a_damaged_file_is_an_error_that_says_what_to_do(lock: LockFile, tmp_path: Path, text: str) -> None:
    (tmp_path / "plugins.lock").write_text(text)
    with pytest.raises(
        InstallError, match=r"plugins.lock is damaged .* restore it from a backup, or remove it"
    ) as caught:
        lock.read()
    assert caught.value.reason is Reason.LOCK_FILE


@pytest.mark.parametrize(
    ("field", "value"),
    [("folder", "../../elsewhere"), ("folder", ".."), ("enabled", "yes"), ("name", None), ("offers", ["x"])],
)
def test_an_entry_that_cannot_be_is_refused(lock: LockFile, tmp_path: Path, field: str, value: object) -> None:
    values = entry(tmp_path).to_json() | {field: value}
    (tmp_path / "plugins.lock").write_text(json.dumps({"format": 1, "plugins": [values]}))
    with pytest.raises(InstallError, match="is damaged"):
        lock.read()


def test_what_a_later_host_added_is_left_out_and_a_later_form_is_refused(lock: LockFile, tmp_path: Path) -> None:
    values = entry(tmp_path).to_json() | {"mood": "good"}
    (tmp_path / "plugins.lock").write_text(json.dumps({"format": 1, "plugins": [values]}))
    assert lock.read() == {"greeter": entry(tmp_path)}
    (tmp_path / "plugins.lock").write_text(json.dumps({"format": 2, "plugins": []}))
    with pytest.raises(InstallError, match="has form 2 and this host reads form 1; use a newer host"):
        lock.read()


def test_a_file_that_is_not_text_is_an_error(lock: LockFile, tmp_path: Path) -> None:
    (tmp_path / "plugins.lock").write_bytes(b"\xff\xfe")
    with pytest.raises(InstallError, match=r"plugins.lock is damaged .*restore it from a backup"):
        lock.read()


def test_a_write_that_fails_leaves_the_old_content(lock: LockFile, tmp_path: Path) -> None:
    lock.write([entry(tmp_path)])
    (tmp_path / "plugins.new").symlink_to("/dev/full")
    told = "No space left on device; nothing was changed; make room and try again"
    with pytest.raises(InstallError, match=told) as caught:
        lock.write([])
    assert caught.value.reason is Reason.DISK_FULL
    assert lock.read() == {"greeter": entry(tmp_path)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plugins.lock"]


def test_a_folder_that_cannot_be_made_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(InstallError, match=r"cannot write the plugins' folder .* ENFILADE_PLUGINS_DIR"),
        LockFile(Folders(tmp_path / "file" / "root")).guard(),
    ):
        pass


def test_who_waits_too_long_for_another_is_told_to_wait_or_to_end_it(
    lock: LockFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockfile, "PATIENCE", 0.02)
    told = r"another process has been changing .*; wait for it or end it"
    with lock.guard(), pytest.raises(InstallError, match=told), lock.guard():
        pass
    with lock.guard():  # it was given back
        pass


def _add_many(root: Path, prefix: str) -> None:
    lock = LockFile(Folders(root))
    for number in range(20):
        with lock.guard():
            entries = lock.read()
            new = replace(entry(root), name=f"{prefix}{number}")
            lock.write([*entries.values(), new])


def test_processes_that_change_the_file_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_add_many, args=(tmp_path, prefix)) for prefix in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(LockFile(Folders(tmp_path)).read()) == 40


def test_a_file_that_cannot_be_read_is_an_error_in_words(lock: LockFile, tmp_path: Path) -> None:
    (tmp_path / "plugins.lock").mkdir()
    with pytest.raises(InstallError, match=r"cannot read .*plugins\.lock: Is a directory$"):
        lock.read()

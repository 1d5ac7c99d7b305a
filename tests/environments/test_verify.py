import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from enfilade.environments.drift import check_drift
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import DriftError, InstallError
from enfilade.environments.store import PluginStore
from enfilade.environments.tree import differences, read_tree
from tests.environments.openers import import_opener
from tests.environments.wheels import write_plugin


@pytest.fixture
async def entry(store: PluginStore, wheelhouse: Path) -> PluginEntry:
    return await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)


def packages(entry: PluginEntry) -> Path:
    [folder] = entry.venv.glob("lib/python3.*/site-packages")
    return folder


def change_content(entry: PluginEntry) -> None:
    (packages(entry) / "greeter" / "strategy.py").write_text("raise SystemExit")


def change_unseen(entry: PluginEntry) -> None:
    """Same size, same time of change: only the kernel's own time tells."""
    path = packages(entry) / "greeter" / "strategy.py"
    before = path.stat()
    path.write_text(path.read_text().replace("hello", "hallo"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def change_byte_code(entry: PluginEntry) -> None:
    [path] = packages(entry).glob("greeter/__pycache__/strategy.*.pyc")
    path.write_bytes(path.read_bytes().replace(b"hello", b"hallo"))


def add_file(entry: PluginEntry) -> None:
    (packages(entry) / "evil.pth").write_text("import os")


def remove_file(entry: PluginEntry) -> None:
    (packages(entry) / "greeter" / "__init__.py").unlink()


def make_setuid(entry: PluginEntry) -> None:
    path = packages(entry) / "greeter" / "strategy.py"
    path.chmod(path.stat().st_mode | stat.S_ISUID)


def put_a_link(entry: PluginEntry) -> None:
    path = packages(entry) / "greeter" / "strategy.py"
    copy = shutil.copy(path, path.parent.parent.parent / "elsewhere.py")
    path.unlink()
    path.symlink_to(copy)


def lead_elsewhere(entry: PluginEntry) -> None:
    entry.python.unlink()
    entry.python.symlink_to("/usr/bin/python-of-mine")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (change_content, "greeter/strategy.py was changed"),
        (change_unseen, "greeter/strategy.py was changed"),
        (change_byte_code, ".pyc was changed"),
        (add_file, "evil.pth was added"),
        (remove_file, "greeter/__init__.py was removed"),
        (make_setuid, "greeter/strategy.py had its permissions changed from 644 to 4644"),
        (put_a_link, "greeter/strategy.py became a link"),
        (lead_elsewhere, "bin/python leads to /usr/bin/python-of-mine and led to"),
    ],
)
def test_a_changed_tree_is_refused_with_what_changed(
    store: PluginStore, entry: PluginEntry, change: Callable[[PluginEntry], None], told: str
) -> None:
    check_drift(store.entry("greeter"))
    change(entry)
    with pytest.raises(DriftError) as caught:
        check_drift(store.entry("greeter"))
    assert "plugin 'greeter' 1.0.0 is not started: its environment is not what was installed" in caught.value.message
    assert told in caught.value.message
    assert "`enfilade plugins update greeter` installs it anew" in caught.value.message
    assert any(told in line for line in caught.value.changes)
    with pytest.raises(DriftError):  # a refusal is not forgotten
        check_drift(store.entry("greeter"))


async def test_an_update_mends_a_changed_tree(store: PluginStore, entry: PluginEntry) -> None:
    change_content(entry)
    await store.update("greeter", import_opener)
    check_drift(store.entry("greeter"))


def test_a_tree_that_was_touched_and_is_the_same_passes_and_is_fast_again(
    store: PluginStore, entry: PluginEntry
) -> None:
    stamps = entry.folder / "stamps.json"
    before = stamps.read_text()
    for path in packages(entry).rglob("*.py"):
        path.touch()
    check_drift(store.entry("greeter"))
    assert stamps.read_text() != before
    known = read_tree(entry.venv)
    assert read_tree(entry.venv, known) == known


@pytest.mark.parametrize("file", ["files.json", "stamps.json"])
@pytest.mark.parametrize("content", [None, "{", "[]", '{"bin/python": "l /elsewhere"}', '{"bin/python": 5}'])
def test_what_was_remembered_of_a_tree_is_not_believed(
    store: PluginStore, entry: PluginEntry, file: str, content: str | None
) -> None:
    path = entry.folder / file
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    check_drift(store.entry("greeter"))
    change_content(entry)
    with pytest.raises(DriftError):
        check_drift(store.entry("greeter"))


def test_many_changes_are_counted(store: PluginStore, entry: PluginEntry) -> None:
    for number in range(300):
        (packages(entry) / f"new{number:03}.py").write_text("")
    with pytest.raises(DriftError, match="and 290 more") as caught:
        check_drift(store.entry("greeter"))
    assert len(caught.value.changes) == 200


def test_an_environment_that_is_gone_is_refused(store: PluginStore, entry: PluginEntry) -> None:
    shutil.rmtree(entry.folder)
    with pytest.raises(DriftError, match=r"its environment .* is gone"):
        check_drift(store.entry("greeter"))
    with pytest.raises(InstallError, match="`enfilade plugins update greeter` installs it anew"):
        store.lease("greeter")


def test_a_pipe_in_an_environment_is_refused(store: PluginStore, entry: PluginEntry) -> None:
    os.mkfifo(packages(entry) / "pipe")
    with pytest.raises(InstallError, match="pipe is neither a file, a folder nor a link"):
        check_drift(store.entry("greeter"))


def test_differences_name_each_path_once() -> None:
    assert differences({"a": "f 644 x", "b": "l t", "c": "f 644 x"}, {"a": "l t", "b": "f 644 y", "d": "f 644 z"}) == [
        "a became a link",
        "b became a file",
        "c was removed",
        "d was added",
    ]

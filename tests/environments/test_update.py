import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from enfilade.environments.drift import check_drift
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError, Reason, SpecError
from enfilade.environments.store import PluginStore
from tests.environments.openers import import_opener
from tests.environments.wheels import write_plugin


def environments(store: PluginStore) -> set[Path]:
    return set((store.root / "environments").iterdir())


@pytest.fixture
async def old(store: PluginStore, wheelhouse: Path) -> PluginEntry:
    write_plugin(wheelhouse, "greeter", "1.0.0")
    return await store.add("greeter==1.0.0", import_opener)


async def test_an_update_puts_the_newest_in_place_of_the_old(
    store: PluginStore, wheelhouse: Path, old: PluginEntry
) -> None:
    write_plugin(wheelhouse, "greeter", "2.0.0")
    new = await store.update("greeter", import_opener)
    assert (old.version, new.version, new.spec) == ("1.0.0", "2.0.0", "greeter")
    assert store.entries() == [new]
    assert environments(store) == {new.folder}


async def test_an_update_to_a_named_version_may_go_back(store: PluginStore, wheelhouse: Path, old: PluginEntry) -> None:
    write_plugin(wheelhouse, "greeter", "2.0.0")
    await store.update("greeter", import_opener)
    assert (await store.update("greeter", import_opener, spec="greeter==1.0.0")).version == "1.0.0"


async def test_who_runs_the_old_version_keeps_it_until_done(
    store: PluginStore, wheelhouse: Path, old: PluginEntry
) -> None:
    lease = store.lease("greeter")
    write_plugin(wheelhouse, "greeter", "2.0.0")

    new = await store.update("greeter", import_opener)

    assert environments(store) == {old.folder, new.folder}
    assert old.python.exists()
    assert lease.entry == old
    with store.lease("greeter") as second:
        assert second.entry == new
        lease.release()
        store.sweep()
        assert environments(store) == {new.folder}


async def test_who_runs_a_removed_plugin_keeps_it_until_done(store: PluginStore, old: PluginEntry) -> None:
    with store.lease("greeter"):
        store.remove("greeter")
        store.sweep()
        assert old.python.exists()
    store.sweep()
    assert environments(store) == set()


async def test_during_an_update_the_old_version_is_there_at_every_moment(
    store: PluginStore, wheelhouse: Path, old: PluginEntry
) -> None:
    write_plugin(wheelhouse, "greeter", "2.0.0")
    versions = []

    def look(_: object) -> None:
        with store.lease("greeter") as lease:
            versions.append(lease.entry.version)
            assert lease.entry.python.exists()

    await store.update("greeter", import_opener, progress=look)
    assert set(versions) == {"1.0.0"}
    assert store.entry("greeter").version == "2.0.0"


async def test_a_failed_update_leaves_the_old_version_and_says_why(
    store: PluginStore, wheelhouse: Path, old: PluginEntry
) -> None:
    write_plugin(wheelhouse, "greeter", "3.0.0", files={"greeter/strategy.py": "raise ValueError('no luck')"})
    with pytest.raises(InstallError, match=r"greeter 3.0.0 could be installed but not opened.*ValueError: no luck"):
        await store.update("greeter", import_opener)
    assert store.entries() == [old]
    assert environments(store) == {old.folder}
    check_drift(store.entry("greeter"))


async def test_an_update_of_a_file_takes_the_same_file_again(
    store: PluginStore, tmp_path: Path, wheelhouse: Path
) -> None:
    wheel = write_plugin(tmp_path, "greeter")
    before = await store.add(str(wheel), import_opener)
    write_plugin(tmp_path, "greeter", answer="'good morning'")
    after = await store.update("greeter", import_opener)
    assert after.spec == before.spec == str(wheel)
    assert after.tree != before.tree


async def test_an_update_to_another_plugin_is_refused(store: PluginStore, wheelhouse: Path, old: PluginEntry) -> None:
    other = write_plugin(wheelhouse, "other")
    with pytest.raises(SpecError, match="expected a version of 'greeter' to update it, got 'other'"):
        await store.update("greeter", import_opener, spec=str(other))
    with pytest.raises(InstallError, match="there is no installed plugin 'other'"):
        await store.update("other", import_opener)


async def test_a_plugin_that_was_removed_during_its_update_stays_removed(
    store: PluginStore, wheelhouse: Path, old: PluginEntry
) -> None:
    def remove(step: object) -> None:
        if store.entries():
            store.remove("greeter")

    with pytest.raises(InstallError, match="'greeter' is not installed, or was removed meanwhile") as caught:
        await store.update("greeter", import_opener, progress=remove)
    assert caught.value.reason is Reason.UNKNOWN
    assert (store.entries(), environments(store)) == ([], set())


def test_who_may_only_read_the_plugins_can_list_check_and_lease_them(store: PluginStore, old: PluginEntry) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    code = """
import os, sys
from pathlib import Path
from enfilade.environments.drift import check_drift
from enfilade.environments.installed import InstalledPlugins
os.setgroups([]); os.setgid(65534); os.setuid(65534)
plugins = InstalledPlugins(Path(sys.argv[1]))
plugins.sweep()
print(plugins.lease("greeter").entry.version)
def checked(name):
    check_drift(plugins.entry(name))
    return plugins.entry(name)
for ask in (checked, plugins.remove):
    try:
        print(ask("greeter").version)
    except Exception as error:
        print(error.message.replace("\\n", " "))
"""
    shared = Path(tempfile.mkdtemp())  # pytest's own folders let nobody else in
    try:
        shared.chmod(0o755)
        shutil.copytree(store.root, shared / "root", symlinks=True)
        command = [sys.executable, "-c", code, str(shared / "root")]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(shared)
    assert ended.returncode == 0, ended.stderr
    leased, verified, removed = ended.stdout.splitlines()
    assert leased == "1.0.0"
    assert verified == "1.0.0" or "is gone or not for this user" in verified  # root's own Python may be out of reach
    assert removed.startswith(f"cannot write the plugins' folder {shared}/root: Permission denied")


async def test_a_lease_meets_an_update_at_any_moment_and_has_an_environment(
    store: PluginStore, wheelhouse: Path, old: PluginEntry
) -> None:
    wheel = str(write_plugin(wheelhouse, "greeter", "2.0.0"))
    over = threading.Event()
    faults: list[str] = []
    leases = 0

    def lease_again_and_again() -> None:
        nonlocal leases
        while not over.is_set():
            with store.lease("greeter") as lease:
                leases += 1
                if not lease.entry.python.exists():
                    faults.append(f"{lease.entry.folder} is gone")

    leasing = asyncio.ensure_future(asyncio.to_thread(lease_again_and_again))
    try:
        for _ in range(3):
            await store.update("greeter", import_opener, spec=wheel)
    finally:
        over.set()
        await leasing
    assert (faults, leases > 0) == ([], True)

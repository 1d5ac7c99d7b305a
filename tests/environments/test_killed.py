import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from enfilade.environments.drift import check_drift
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.sdk import Sdk
from enfilade.environments.sources import Sources
from enfilade.environments.store import PluginStore
from tests.environments.index import Index, serving
from tests.environments.openers import import_opener
from tests.environments.processes import processes_naming, until
from tests.environments.wheels import write_plugin, write_wheel

STEPS = ["check", "python", "resolve", "create", "install", "compile", "open", "record"]


async def killed_at(step: str, store: PluginStore, wheelhouse: Path, sdk: Sdk, spec: str) -> None:
    """Runs a host until it begins a step, and kills it there."""
    arguments = [str(store.root), str(wheelhouse), str(sdk.folder), spec]
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.environments.killed_host", *arguments, stdin=PIPE, stdout=PIPE
    )
    while (line := await _line(host)) != step:
        assert line not in ("end", ""), f"the host ended before the step {step}"
        assert host.stdin is not None
        host.stdin.write(b"\n")
    host.kill()
    await host.communicate()


async def _line(host: Process) -> str:
    assert host.stdout is not None
    return (await host.stdout.readline()).decode().strip()


@pytest.mark.parametrize("step", STEPS)
async def test_a_host_killed_while_it_adds_leaves_nothing_that_the_next_start_does_not_remove(
    store: PluginStore, wheelhouse: Path, tiny_sdk: Sdk, step: str
) -> None:
    wheel = write_plugin(wheelhouse, "greeter")
    await killed_at(step, store, wheelhouse, tiny_sdk, str(wheel))

    await until(lambda: not processes_naming(store.root), "no process of it is left")
    assert store.entries() == []
    store.sweep()
    assert list((store.root / "environments").iterdir()) == []
    assert {path.name for path in store.root.iterdir()} <= {".changing", "environments", "bytecode"}
    assert (await store.add(str(wheel), import_opener)).version == "1.0.0"


@pytest.mark.parametrize("step", ["install", "record"])
async def test_a_host_killed_while_it_updates_leaves_the_old_version(
    store: PluginStore, wheelhouse: Path, tiny_sdk: Sdk, step: str
) -> None:
    old = await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    new = write_plugin(wheelhouse, "greeter", "2.0.0")

    await killed_at(step, store, wheelhouse, tiny_sdk, str(new))

    await until(lambda: not processes_naming(store.root / "environments"), "no process of it is left")
    assert store.entries() == [old]
    check_drift(store.entry("greeter"))
    store.sweep()
    assert [path.name for path in (store.root / "environments").iterdir()] == [old.folder.name]
    assert (await store.update("greeter", import_opener, spec=str(new))).version == "2.0.0"


async def test_a_host_killed_after_it_recorded_an_update_has_the_new_version_and_no_rest(
    store: PluginStore, wheelhouse: Path
) -> None:
    old = await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    with store.lease("greeter"):  # so that the update itself cannot remove it, as if it had been killed before
        new = await store.update("greeter", import_opener, spec=str(write_plugin(wheelhouse, "greeter", "2.0.0")))
    assert old.folder.exists()
    store.sweep()
    assert list((store.root / "environments").iterdir()) == [new.folder]


def online(store: PluginStore, sdk: Sdk) -> PluginStore:
    return PluginStore(store.root, Sources(), sdk=sdk)


def tool_of(store: PluginStore) -> psutil.Process | None:
    """The installer that runs, not its keeper."""
    for process in processes_naming(store.root):
        if process.name() in ("uv", "pip"):
            return process
    return None


@pytest.fixture
def stalled(wheelhouse: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    """An index that holds back the file of a dependency, so that an installation stands still in the middle."""
    write_plugin(wheelhouse, "greeter", requires=["slow"])
    held = write_wheel(wheelhouse, "slow")
    with serving(wheelhouse, held.name) as index:
        monkeypatch.setenv("UV_DEFAULT_INDEX", index.url())
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
        yield index


async def adding(store: PluginStore, sdk: Sdk, index: Index) -> asyncio.Task[object]:
    """An installation that has come to where it stands still."""
    task: asyncio.Task[object] = asyncio.ensure_future(online(store, sdk).add("greeter", import_opener))
    await until(index.asked.is_set, "the installer waits for the file")
    return task


def nothing_is_left(store: PluginStore) -> bool:
    return store.entries() == [] and list((store.root / "environments").iterdir()) == []


async def test_an_installer_that_is_killed_is_a_failure_that_leaves_nothing(
    store: PluginStore, tiny_sdk: Sdk, stalled: Index
) -> None:
    task = await adding(store, tiny_sdk, stalled)
    tool = tool_of(store)
    assert tool is not None
    os.kill(tool.pid, signal.SIGKILL)
    with pytest.raises(InstallError, match=r"signal 9 \(SIGKILL") as caught:
        await task
    assert caught.value.reason is Reason.INSTALLER_FAILED
    assert nothing_is_left(store)


async def test_a_cancelled_installation_ends_the_installer_and_leaves_nothing(
    store: PluginStore, tiny_sdk: Sdk, stalled: Index
) -> None:
    task = await adding(store, tiny_sdk, stalled)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not processes_naming(store.root), "no process of it is left")
    assert nothing_is_left(store)


async def test_a_sweep_leaves_an_installation_of_somebody_else_alone(
    store: PluginStore, tiny_sdk: Sdk, stalled: Index
) -> None:
    task = await adding(store, tiny_sdk, stalled)
    before = list((store.root / "environments").iterdir())
    store.sweep()
    assert list((store.root / "environments").iterdir()) == before
    assert len(before) == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


SMALL_DISK = """
mount -t tmpfs -o size={size}k tmpfs "$1" || exit 77
"$2" -m tests.environments.killed_host "$1" "$3" "$4" "$5" && exit 0
ls "$1/environments" >&2
exit 1
"""


@pytest.mark.parametrize("size", [40, 200, 300])
async def test_a_full_disk_is_a_failure_that_says_so_and_leaves_nothing(
    tmp_path: Path, wheelhouse: Path, tiny_sdk: Sdk, size: int
) -> None:
    wheel = write_plugin(wheelhouse, "greeter", files={"greeter/big.txt": os.urandom(150_000).hex()})
    disk = tmp_path / "disk"
    disk.mkdir()
    process = await asyncio.create_subprocess_exec(
        *("unshare", "-rm", "sh", "-c", SMALL_DISK.format(size=size), "sh"),
        *(str(disk), sys.executable, str(wheelhouse), str(tiny_sdk.folder), str(wheel)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    _, errors = await process.communicate()
    if process.returncode == 77 or b"unshare" in errors:
        pytest.skip(f"this machine lets no test mount a small disk: {errors.decode().strip()}")
    assert process.returncode == 1
    error = errors.decode().strip().partition("InstallError: ")[2]
    assert "the disk is full" in error or "No space left on device" in error.splitlines()[0], errors.decode()
    assert not error.splitlines()[-1].startswith("greeter-"), "an environment is left"

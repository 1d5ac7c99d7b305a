"""A strict plugin's control group: what it bounds, what is told, and that none is left behind.

Few machines hand a part of their tree to a test. What needs no memory controller is tried in any tree that is there.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from enfilade.errors import LaunchError
from enfilade.isolation import guardian
from enfilade.isolation.directory import launch_name, make_directory
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.removal import remove_group
from enfilade.isolation.sandbox import control_tree as tree
from enfilade.isolation.sandbox import plan
from enfilade.isolation.sandbox.control_group import MOST_PROCESSES
from enfilade.isolation.sandbox.control_tree import LEAF, VARIABLE, ControlTree, control_tree
from enfilade.sandboxing import Sandboxing
from enfilade_sdk.errors import GuestDiedError
from tests.isolation.test_host_killed import GONE, doomed
from tests.isolation.test_sandbox import strategy
from tests.support.faulty_guest import offering, started
from tests.support.leftovers import alive, gone
from tests.support.sandbox_marks import needs_strict
from tests.support.trial_run import texts

MIB = 2**20
STRICT = Sandboxing("strict", required=True, subprocess=True, memory=160 * MIB)
HOLDS_SHARED = """
held = os.memfd_create("held")
for _ in range(64):
    os.write(held, bytes(4 * 2**20))
yield "held"
"""
"""Memory that no limit of a process counts."""

_MISSING = control_tree().missing

needs_group = pytest.mark.skipif(bool(_MISSING), reason=f"this machine gives no control group: {_MISSING}")


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    yield
    control_tree.cache_clear()


@pytest.fixture
def plain_group() -> Iterator[Path]:
    """A group of our own in whatever tree of version 2 there is."""
    try:
        group = tree._own_group() / f"enfilade-test-{os.getpid()}"  # noqa: SLF001 - the only way to the tree
        group.mkdir()
    except Exception as error:  # noqa: BLE001 - whatever it is, there is none to try
        pytest.skip(f"no group can be made here: {error}")
    yield group
    for inner in (*group.glob("*/"), group):
        (inner / "cgroup.kill").write_text("1")
    for inner in (*group.glob("*/"), group):
        remove_group(str(inner))


def sleeper(group: Path) -> "subprocess.Popen[bytes]":
    """A process in a group, and one that it has put into a session of its own."""
    script = 'echo $$ >"$0"; setsid sleep 60 & echo $!; exec sleep 60'
    process = subprocess.Popen(["/bin/sh", "-c", script, str(group / "cgroup.procs")], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def members(group: Path) -> list[int]:
    return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]


def groups() -> set[str]:
    return {path.name for path in Path(control_tree().base).glob("enf-*")}


def test_removing_a_group_ends_all_that_is_in_it(plain_group: Path) -> None:
    group = plain_group / launch_name("abc")
    group.mkdir()
    process = sleeper(group)
    inside = members(group)
    assert len(inside) == 2
    remove_group(str(group))
    assert process.wait(timeout=10) == -9
    assert not group.exists()
    assert not any(map(alive, inside))
    assert process.stdout is not None
    process.stdout.close()


def test_a_guardian_removes_the_groups_that_a_killed_host_left(plain_group: Path) -> None:
    group = plain_group / launch_name("abc")
    group.mkdir()
    process = sleeper(group)
    directory = make_directory()
    line = f"+ {GONE} {directory}\0{group}\n".encode()
    watching = [sys.executable, "-I", "-S", guardian.__file__]
    subprocess.run(watching, input=line, env={}, start_new_session=True, timeout=20, check=True)
    assert process.wait(timeout=10) == -9
    assert not group.exists()
    assert not Path(directory).exists()
    assert process.stdout is not None
    process.stdout.close()


def test_what_stands_where_groups_are_to_be_made_is_moved_into_one(plain_group: Path) -> None:
    controllers = (plain_group / "cgroup.controllers").read_text().split()
    if not controllers:
        pytest.skip("this tree has no controller at all")
    process = sleeper(plain_group)
    inside = members(plain_group)
    tree._pass_down(plain_group, f"+{controllers[-1]}")  # noqa: SLF001 - the whole way needs the memory controller
    assert members(plain_group) == []
    assert members(plain_group / LEAF) == inside
    remove_group(str(plain_group / LEAF))
    assert process.wait(timeout=10) == -9
    assert process.stdout is not None
    process.stdout.close()


@needs_strict
async def test_a_group_that_cannot_be_made_is_why_a_plugin_does_not_start(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "control_tree", lambda: ControlTree("/sys/fs/cgroup/no such"))
    async with started(launcher, offering("at_run:Works", seconds=60, sandboxing=STRICT)) as guest:
        with pytest.raises(LaunchError, match=r"the control group /sys/fs/cgroup/no such/enf-\S+ cannot be made: No "):
            await guest.describe()


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("/nonexistent", "/nonexistent/cgroup.controllers: No such file or directory"),
        ("/tmp", "/tmp/cgroup.controllers: No such file or directory"),
    ],
)
def test_a_group_that_serves_not_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, named: str, why: str
) -> None:
    monkeypatch.setenv(VARIABLE, named)
    control_tree.cache_clear()
    assert control_tree().missing == why


def test_a_group_without_the_memory_controller_serves_not(monkeypatch: pytest.MonkeyPatch, plain_group: Path) -> None:
    inner = plain_group / "inner"  # nothing was passed down to it
    inner.mkdir()
    monkeypatch.setenv(VARIABLE, str(inner))
    control_tree.cache_clear()
    assert control_tree().missing == (
        f"{inner} has no memory controller; version 1 of control groups may hold it, or it was not passed down"
    )


@needs_strict
@pytest.mark.skipif(not _MISSING, reason="this machine gives control groups")
async def test_a_machine_that_gives_no_group_says_why_and_refuses_nothing(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Works", seconds=60, sandboxing=STRICT)) as guest:
        assert len(await texts(guest, "Works")) == 1
        assert guest.confined.missing == {"control group": _MISSING}
        assert not guest.confined.lacking


@needs_strict
@needs_group
async def test_a_strict_plugin_has_a_group_while_it_lives(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Works", seconds=60, sandboxing=STRICT)) as guest:
        assert len(await texts(guest, "Works")) == 1
        assert guest.confined.active[-1] == "control group"
        (name,) = groups()
        group = Path(control_tree().base, name)
        assert guest.pid in members(group)
        assert (group / "memory.max").read_text().strip() == str(STRICT.memory)
        assert (group / "pids.max").read_text().strip() == str(MOST_PROCESSES)
    assert groups() == set()


@needs_strict
@needs_group
async def test_memory_that_no_limit_counts_ends_a_plugin_and_is_told(launcher: Launcher, tmp_path: Path) -> None:
    async with started(launcher, strategy(tmp_path, HOLDS_SHARED, sandboxing=STRICT, start_timeout=60)) as guest:
        with pytest.raises(GuestDiedError) as caught:
            await texts(guest, "act")
    assert "signal 9 (SIGKILL: killed by the kernel for using more than its memory limit of 160 MiB)" in str(
        caught.value
    )
    assert groups() == set()


@needs_strict
@needs_group
async def test_processes_without_end_come_to_one(launcher: Launcher, tmp_path: Path) -> None:
    body = (
        "made = 0\ntry:\n    while made < 2000:\n        if os.fork() == 0:\n            import time; time.sleep(60)\n"
        "        made += 1\nexcept OSError as error:\n    yield type(error).__name__\nyield str(made < 2000)"
    )
    asked = replace(STRICT, memory=2048 * MIB)
    async with started(launcher, strategy(tmp_path, body, sandboxing=asked, start_timeout=60)) as guest:
        assert await texts(guest, "act") == ["BlockingIOError", "True"]
    assert groups() == set()


@needs_strict
@needs_group
async def test_no_group_outlives_a_killed_host_for_long() -> None:
    async with doomed("strict") as (process, pids):
        assert len(groups()) == 5
        process.kill()
        await process.wait()
        await gone(*pids, seconds=15)
        async with asyncio.timeout(15):
            while groups():  # noqa: ASYNC110 - a foreign process sets no event
                await asyncio.sleep(0.02)


@needs_group
def test_a_host_removes_the_groups_of_dead_hosts() -> None:
    _, number, namespace, start, _ = launch_name().split("-")
    base = Path(control_tree().base)
    stale = base / f"enf-{GONE}-{namespace}-{start}-abc"
    stale.mkdir()
    control_tree.cache_clear()
    assert control_tree().base == str(base)
    assert not stale.exists()
    assert number == str(os.getpid())

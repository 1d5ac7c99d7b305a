"""A host that is killed, or ends in any other way, leaves no process and no directory for long."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from enfilade.config import Config
from enfilade.host import Host
from enfilade.isolation import directory
from enfilade.isolation.directory import make_directory, sweep
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.sandbox.machine import bubblewrap
from tests.support.faulty_guest import ROOT, offering, started
from tests.support.leftovers import alive, gone
from tests.support.trial_run import texts

GONE = 2**22 + 1
"""A number that no process has: Linux's largest is 2**22."""

_MISSING_FOR_STRICT = bubblewrap()[1]

STARTED = 40.0
"""Seconds that a host with five guests has to start them; the machine may be busy."""


@asynccontextmanager
async def doomed(*words: str) -> AsyncIterator[tuple[Process, list[int]]]:
    """A host with five guests in the middle of runs, and the ids of all that it started."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.doomed_host", *words, cwd=ROOT, stdout=PIPE
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), STARTED)
        pids = json.loads(line)["pids"]
        assert len(pids) >= 10  # five guests, two children of one and two strays of another, the guardian
        assert all(map(alive, pids))
        yield process, pids
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def directories(pid: int) -> list[Path]:
    return list(Path("/tmp").glob(f"enf-{pid}-*"))


async def no_directories(pid: int) -> None:
    async with asyncio.timeout(5):
        while directories(pid):  # noqa: ASYNC110 - a foreign process sets no event
            await asyncio.sleep(0.02)


def command_of(pid: int) -> str:
    return " ".join(psutil.Process(pid).cmdline())


def leads_a_group(pid: int) -> bool:
    """Whether the plugin itself runs there, not what it forked."""
    return alive(pid) and os.getpgid(pid) == pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_nothing_outlives_a_host_that_was_killed(number: signal.Signals) -> None:
    async with doomed() as (process, pids):
        assert len(directories(process.pid)) == 5
        process.send_signal(number)
        await asyncio.wait_for(process.wait(), 10)
        await gone(*pids, seconds=5)
        await no_directories(process.pid)


@pytest.mark.parametrize("words", [("strict",), ("strict", "thread"), ("standard", "thread"), ("none",)], ids=" ".join)
async def test_nothing_outlives_a_killed_host_under_any_profile(words: tuple[str, ...]) -> None:
    if _MISSING_FOR_STRICT and "strict" in words:
        pytest.skip(f"this machine has no bubblewrap: {_MISSING_FOR_STRICT}")
    async with doomed(*words) as (process, pids):
        process.kill()
        await process.wait()
        await gone(*pids, seconds=15)
        await no_directories(process.pid)


async def test_nothing_outlives_a_host_whose_guardian_was_killed_first() -> None:
    """The kernel, the end of stdin and the next host's sweep are there too; only what a plugin forked may stay."""
    async with doomed() as (process, pids):
        guardian = next(pid for pid in pids if "guardian.py" in command_of(pid))
        guests = [pid for pid in pids if "serving/doorway.py" in command_of(pid) and leads_a_group(pid)]
        os.kill(guardian, signal.SIGKILL)
        process.kill()
        await process.wait()
        try:
            await gone(*guests, seconds=5)
            sweep()
            assert directories(process.pid) == []
        finally:
            for pid in filter(alive, pids):
                os.kill(pid, signal.SIGKILL)


async def test_a_guardian_that_was_killed_is_replaced_with_all_it_knew(launcher: Launcher) -> None:
    async with (
        started(launcher, offering("at_run:Works")) as first,
        started(launcher, offering("at_run:Works")) as second,
    ):
        await first.describe()
        watch = launcher._watch  # noqa: SLF001 - there is no other way to the guardian
        assert watch._process is not None  # noqa: SLF001 - as above
        watch._process.kill()  # noqa: SLF001 - as above
        watch._process.wait()  # noqa: SLF001 - as above
        await second.describe()
        assert watch._process.poll() is None  # noqa: SLF001 - as above
        assert len(watch._groups) == 2  # noqa: SLF001 - as above


async def test_a_host_removes_what_dead_hosts_left_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENFILADE_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(directory, "PATH_LIMIT", 1000)
    own = Path(make_directory())
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("ENFILADE_RUNTIME_DIR", str(tmp_path / "other"))  # what others left elsewhere goes too
    _, number, namespace, start, _ = own.name.split("-")
    stale = [
        tmp_path / f"enf-{GONE}-{namespace}-{start}-abc",
        tmp_path / f"enf-{number}-{namespace}-1-abc",  # its number is another process's by now
    ]
    kept = [
        own,
        tmp_path / f"enf-{GONE}-1-{start}-abc",  # made in another pid namespace
        tmp_path / "enf-no-number-at-all",
        tmp_path / "enf-1-a-b",
        tmp_path / "other",
    ]
    for folder in (*stale, *kept):
        (folder / "deep").mkdir(parents=True, exist_ok=True)
        (folder / "1.sock").write_text("")
    (tmp_path / f"enf-{GONE}-{namespace}-{start}-link").symlink_to(tmp_path / "other")
    async with Host(Config(), candidates=[]):
        assert not any(folder.exists() for folder in stale)
    assert all((folder / "1.sock").exists() for folder in kept)


async def test_a_new_host_works_beside_what_an_old_one_left(
    monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    async with doomed() as (process, pids):
        process.kill()
        await process.wait()
        sweep()
        async with started(launcher, offering("at_run:Works")) as guest:
            assert len(await texts(guest, "Works")) == 1
        await gone(*pids)

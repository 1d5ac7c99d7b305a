"""Plugins served by the SDK that do harm while they run: each costs itself, is told clearly, and leaves nothing."""

import asyncio
import logging
import os
import signal
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import pytest

from enfilade.isolation.launcher import Launcher
from enfilade_sdk.errors import EnfiladeError, GuestDiedError
from tests.support.faulty_guest import NO_FORK_HANDLERS, offering, started
from tests.support.leftovers import alive, gone
from tests.support.trial_run import begin, text_of, texts

SOON = 15.0
"""Seconds that stand for `at once` where nothing else would end it: a machine may have much else to do."""


@dataclass(frozen=True, slots=True)
class Folder:
    mode: int
    names: set[str]


def folder_of(path: str) -> Folder:
    """What is in a folder but for sockets; nothing for one that is not there."""
    folder = Path(path)
    if not folder.exists():
        return Folder(0, set())
    return Folder(folder.stat().st_mode & 0o777, {file.name for file in folder.iterdir() if not file.is_socket()})


@pytest.mark.parametrize(
    ("strategy", "how"),
    [
        ("Dies", "signal 9 (SIGKILL: killed, perhaps for want of memory); its last lines:\n  last words"),
        ("Segfaults", "signal 11 (SIGSEGV: a segmentation fault in native code)"),
        ("Exits", "exit code 0; it printed nothing"),
    ],
)
async def test_a_death_in_the_middle_of_a_run_is_told_at_once_and_the_next_run_starts_anew(
    launcher: Launcher, strategy: str, how: str
) -> None:
    async with started(launcher, offering(f"at_run:{strategy}", "at_run:Works", "at_run:Waits")) as guest:
        async with aclosing(begin(guest, "Waits")) as other:
            first = text_of(await anext(other))
            run = begin(guest, strategy)
            assert text_of(await anext(run)).startswith("about to")
            started_at = monotonic()
            with pytest.raises(GuestDiedError) as caught:
                await anext(run)
            with pytest.raises(GuestDiedError):
                while True:
                    await anext(other)
            assert monotonic() - started_at < SOON
        assert caught.value.message.startswith(f"plugin 'harm' died in the middle of the run: {how}")
        (second,) = await texts(guest, "Works")
        assert first != second


async def test_a_killed_process_is_replaced_by_the_next_run(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Works")) as guest:
        (first,) = await texts(guest, "Works")
        os.kill(int(first), signal.SIGKILL)
        async with asyncio.timeout(5):
            while guest.pid is not None:  # noqa: ASYNC110 - nothing else tells that it has ended
                await asyncio.sleep(0)
        (second,) = await texts(guest, "Works")
        assert first != second


async def test_a_plugin_busy_in_c_code_is_not_taken_for_dead(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Computes", "at_run:Works")) as guest:
        pid, done = await texts(guest, "Computes", seconds=3)
        assert done == "done"
        assert await texts(guest, "Works") == [pid]


@pytest.mark.parametrize("strategy", ["IgnoresSigterm", "Spins"])
async def test_a_plugin_that_ignores_its_cancel_is_killed(launcher: Launcher, strategy: str) -> None:
    async with started(launcher, offering(f"at_run:{strategy}", "at_run:Works")) as guest:
        async with aclosing(begin(guest, strategy)) as run:
            pid = int(text_of(await anext(run)))
            started_at = monotonic()
        assert monotonic() - started_at < SOON
        await gone(pid)
        (other,) = await texts(guest, "Works")
        assert int(other) != pid


@pytest.mark.parametrize("strategy", ["IgnoresSigterm", "Spins", "Waits"])
async def test_a_plugin_in_the_middle_of_a_run_is_stopped_in_bounded_time(launcher: Launcher, strategy: str) -> None:
    async with started(launcher, offering(f"at_run:{strategy}")) as guest:
        run = begin(guest, strategy)
        pid = int(text_of(await anext(run)))
        started_at = monotonic()
        await guest.stop()
        assert monotonic() - started_at < SOON
        assert not alive(pid)
        with pytest.raises(GuestDiedError, match="was stopped under this run: the host stops it"):
            while True:
                await anext(run)


async def test_children_of_a_plugin_go_with_it(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Forks", **NO_FORK_HANDLERS)) as guest:
        run = begin(guest, "Forks")
        pids = [int(pid) for pid in text_of(await anext(run)).split()]
        assert all(map(alive, pids))
        await run.aclose()
        await guest.stop()
        await gone(*pids)


async def test_children_that_left_the_group_of_their_plugin_go_with_it(
    launcher: Launcher, caplog: pytest.LogCaptureFixture
) -> None:
    async with started(launcher, offering("at_run:Escapes")) as guest:
        run = begin(guest, "Escapes")
        pids = [int(pid) for pid in text_of(await anext(run)).split()]
        assert all(map(alive, pids))
        await run.aclose()
        await guest.stop()
        await gone(*pids)
    assert "plugin 'harm' left 2 processes behind; they were stopped" in caplog.text


async def test_children_of_a_plugin_that_dies_go_with_it(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Forks", **NO_FORK_HANDLERS)) as guest:
        run = begin(guest, "Forks")
        pids = [int(pid) for pid in text_of(await anext(run)).split()]
        os.kill(pids[0], signal.SIGKILL)
        with pytest.raises(GuestDiedError):
            while True:
                await anext(run)
        await gone(*pids)


async def test_what_a_plugin_prints_goes_into_the_log_with_its_name(
    launcher: Launcher, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="enfilade.plugin.harm")
    async with started(launcher, offering("prints_at_import:Prints")) as guest:
        assert await texts(guest, "Prints") == ["''"]  # what it read from stdin: nothing, not our launch line
    lines = [record.getMessage() for record in caplog.records if record.name == "enfilade.plugin.harm"]
    assert lines == [
        "1|1|unix|/tmp/not-mine.sock|grpc|",
        "raw bytes \N{REPLACEMENT CHARACTER} on descriptor 1",
        "from a child",
        "printed in the run",
    ]


@pytest.mark.parametrize("descriptor", [1, 2])
@pytest.mark.parametrize("width", [0, 100, 100_000])
async def test_a_flood_of_output_is_slowed_and_holds_up_nobody(launcher: Launcher, descriptor: int, width: int) -> None:
    harm = offering("at_run:FloodsOutput")
    async with started(launcher, harm) as guest, started(launcher, offering("at_run:Works")) as other:
        await other.describe()
        run = begin(guest, "FloodsOutput", seconds=1.0, descriptor=descriptor, width=width)
        await anext(run)
        cpu = os.times()
        started_at = monotonic()
        while monotonic() - started_at < 1:
            assert len(await texts(other, "Works")) == 1
            await asyncio.sleep(0.1)
        spent = os.times()
        assert (spent.user - cpu.user) + (spent.system - cpu.system) < 0.8  # of a second and more
        await run.aclose()


async def test_files_left_in_the_private_directory_go_with_it(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:LeavesFiles")) as guest:
        (folder,) = await texts(guest, "LeavesFiles")
        assert (folder_of(folder).mode, folder_of(folder).names) == (0o700, {"left behind", "deep"})
    assert folder_of(folder).names == set()


async def test_forty_sleeping_runs_are_replaced_with_their_process(launcher: Launcher) -> None:
    """Cancelled in a sleep that nothing interrupts: all give up together, and the next run is served soon."""
    async with started(launcher, offering("at_run:IgnoresSigterm", "at_run:Works")) as guest:
        runs = [begin(guest, "IgnoresSigterm") for _ in range(40)]
        pids = {text_of(await anext(run)) for run in runs}
        assert len(pids) == 1
        started_at = monotonic()
        await asyncio.gather(*(run.aclose() for run in runs))
        (other,) = await asyncio.wait_for(texts(guest, "Works"), SOON)
        assert other not in pids
        assert monotonic() - started_at < SOON
        await gone(*map(int, pids))


async def test_an_unknown_strategy_is_refused_by_the_guest(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Works")) as guest:
        with pytest.raises(EnfiladeError, match="this plugin has no strategy 'Other'; it has: Works"):
            await texts(guest, "Other")

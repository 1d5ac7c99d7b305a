"""Processes that are started when they are needed, looked after, and ended: with real ones."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from enfilade.candidate import Candidate
from enfilade.errors import LaunchError
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.process import StopTimes
from enfilade.isolation.supervision import pool
from enfilade.isolation.supervision.backoff import CrashPolicy
from enfilade.isolation.supervision.guest import StartedGuest
from enfilade.isolation.supervision.states import State
from enfilade.supervision import Supervision
from enfilade_sdk.errors import BusyError, GuestDiedError
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from tests.support.faulty_guest import by_hand, offering, started
from tests.support.leftovers import gone, nothing_left
from tests.support.states import BOUND, Heard
from tests.support.trial_hatch import TrialHatch
from tests.support.trial_run import begin, text_of, texts

NEVER = 100.0
"""Seconds of a back-off that no test waits for."""

QUICK = CrashPolicy(first=0.05, longest=0.2)


@pytest_asyncio.fixture
async def launcher() -> AsyncIterator[Launcher]:
    """A launcher that loses no time, neither in stopping nor after crashes; nothing may be left."""
    async with nothing_left():
        launcher = Launcher(StopTimes(shutdown=0.3, stdin=0.3, terminate=0.5), QUICK)
        yield launcher
        await launcher.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may be so busy that a process takes longer to start than runs commonly wait for one."""
    monkeypatch.setattr(pool, "PATIENCE", 60.0)


def cared(*strategies: str, **care: Any) -> Candidate:
    """A plugin with strategies of `at_run` that is looked after so."""
    given = {"heartbeat": 0.0} | care
    return replace(offering(*(f"at_run:{name}" for name in strategies)), supervision=Supervision(**given))


@asynccontextmanager
async def watched(launcher: Launcher, candidate: Candidate) -> AsyncIterator[tuple[StartedGuest, Heard]]:
    async with started(launcher, candidate) as guest:
        yield guest, Heard(guest)


@asynccontextmanager
async def waiting_runs(guest: StartedGuest, number: int) -> AsyncIterator[list[str]]:
    """So many runs that go on until the block ends; gives the processes they are on."""
    async with AsyncExitStack() as stack:
        runs = [await stack.enter_async_context(aclosing(begin(guest, "Waits"))) for _ in range(number)]
        firsts = await asyncio.gather(*(anext(run) for run in runs))
        yield [text_of(first) for first in firsts]


def run_within(guest: StartedGuest, strategy: str, seconds: float) -> AsyncGenerator[ToolInvokeMessage, None]:
    return guest.run(Invocation(strategy, {}, run_id="r", deadline=seconds), TrialHatch())


async def test_a_plugin_goes_from_installed_to_stopped_and_each_step_is_told(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works")) as (guest, heard):
        assert guest.status().state is State.INSTALLED
        (pid,) = await texts(guest, "Works")
        assert heard.states == [State.STARTING, State.READY]
        assert heard.changes[-1].pid == int(pid)
        assert [(p.pid, p.served, p.runs) for p in guest.status().processes] == [(int(pid), 1, 0)]
        await guest.stop()
    assert heard.states == [State.STARTING, State.READY, State.STOPPED]
    assert (heard.changes[-1].plugin, heard.changes[-1].before) == ("harm", State.READY)
    assert guest.status().processes == ()


async def test_a_checked_environment_is_shown_as_verified(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works")) as (guest, heard):
        guest._check = lambda: None  # noqa: SLF001 - an environment of its own takes seconds to make
        await guest.describe()
        assert heard.states == [State.VERIFIED, State.STARTING, State.READY]


async def test_a_crash_is_told_and_the_next_run_waits_for_the_new_process(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works")) as (guest, heard):
        (first,) = await texts(guest, "Works")
        os.kill(int(first), signal.SIGKILL)
        await heard.until_state(State.BACKING_OFF)
        (second,) = await texts(guest, "Works")
        assert first != second
        told = [state for state in heard.states[2:] if state is not State.STOPPED]  # which is what a late run finds
        assert told == [State.CRASHED, State.BACKING_OFF, State.STARTING, State.READY]
        assert heard.last(State.CRASHED).reason.startswith("signal 9 (SIGKILL")
        assert heard.last(State.CRASHED).pid == int(first)


async def test_a_crash_fails_every_run_on_the_process_once_and_none_is_repeated(launcher: Launcher) -> None:
    async with watched(launcher, cared("Waits")) as (guest, heard):
        runs = [begin(guest, "Waits") for _ in range(20)]
        pids = {text_of(await anext(run)) for run in runs}
        os.kill(int(pids.pop()), signal.SIGKILL)

        async def end(run: AsyncGenerator[ToolInvokeMessage, None]) -> str:
            with pytest.raises(GuestDiedError) as caught:
                async for _ in run:
                    pass
            return caught.value.message

        ends = await asyncio.wait_for(asyncio.gather(*map(end, runs)), BOUND)
        assert all(text.startswith("plugin 'harm' died in the middle of the run: signal 9") for text in ends)
        await heard.until_state(State.STOPPED)  # the back-off is over and nobody wanted it again
        assert heard.states.count(State.STARTING) == 1


async def test_a_run_that_cannot_wait_so_long_is_refused_at_once() -> None:
    async with nothing_left():
        launcher = Launcher(StopTimes(0.3, 0.3, 0.5), CrashPolicy(first=NEVER, longest=NEVER))
        async with watched(launcher, cared("Works")) as (guest, heard):
            (pid,) = await texts(guest, "Works")
            os.kill(int(pid), signal.SIGKILL)
            await heard.until_state(State.BACKING_OFF)
            with pytest.raises(LaunchError, match="harm' crashed and is not started again before") as refused:
                await anext(run_within(guest, "Works", 5))
            assert refused.value.details["state"] == "backing_off"
            assert refused.value.retryable
            assert 50 < refused.value.details["retry_after"] <= NEVER
            status = guest.status()
            assert (status.state, status.crashes, status.waiting) == (State.BACKING_OFF, 1, 0)
            assert status.retry_at is not None
        await launcher.close()


async def test_three_crashes_disable_a_plugin_until_somebody_asks(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works")) as (guest, heard):
        for number in range(1, 4):
            (pid,) = await texts(guest, "Works")
            os.kill(int(pid), signal.SIGKILL)
            await heard.until_state(State.CRASHED, number)
        assert heard.states[-1] is State.DISABLED
        with pytest.raises(LaunchError, match="disabled here: it crashed 3 times within five minutes; `enfilade"):
            await texts(guest, "Works")
        with pytest.raises(LaunchError, match=r"how it ended: signal 9 \(SIGKILL"):
            await guest.describe()
        assert guest.status().state is State.DISABLED


async def test_starts_that_fail_count_as_crashes_and_tell_their_reason_to_the_end(launcher: Launcher) -> None:
    async with started(launcher, by_hand("exits_early")) as guest:
        heard = Heard(guest)
        for _ in range(3):
            with pytest.raises(LaunchError, match="ended before its handshake: exit code 3"):
                await guest.describe()
        assert heard.states.count(State.STARTING) == 3
        with pytest.raises(LaunchError, match=r"(?s)is disabled here.*I have\n  changed my mind"):
            await guest.describe()
        assert heard.states.count(State.STARTING) == 3


async def test_no_crashes_are_too_many_where_the_operator_says_so(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works", crashes=0)) as (guest, heard):
        for number in range(1, 6):
            (pid,) = await texts(guest, "Works")
            os.kill(int(pid), signal.SIGKILL)
            await heard.until_state(State.CRASHED, number)
        assert len(await texts(guest, "Works")) == 1
    assert State.DISABLED not in heard.states


async def test_a_process_that_had_to_be_stopped_over_a_cancelled_run_has_not_crashed(launcher: Launcher) -> None:
    async with watched(launcher, cared("IgnoresSigterm", "Works")) as (guest, heard):
        async with aclosing(begin(guest, "IgnoresSigterm")) as run:
            pid = int(text_of(await anext(run)))
        await gone(pid)
        await heard.until_state(State.STOPPED)
        assert heard.last(State.STOPPED).reason == "a cancelled run did not end within 1 s, in the same process"
        assert guest.status().crashes == 0
        assert len(await texts(guest, "Works")) == 1


async def test_a_stopped_process_is_unresponsive_and_not_dead(launcher: Launcher) -> None:
    """SIGSTOP: a missed beat kills nothing; a run on it goes on when the process does."""
    async with watched(launcher, cared("Works", heartbeat=0.5)) as (guest, heard):
        (pid,) = await texts(guest, "Works")
        os.kill(int(pid), signal.SIGSTOP)
        await heard.until(lambda: guest.status().state is State.UNRESPONSIVE)
        waiting = asyncio.ensure_future(texts(guest, "Works"))
        await asyncio.sleep(1.2)  # some more beats are missed
        assert not waiting.done()
        os.kill(int(pid), signal.SIGCONT)
        assert await asyncio.wait_for(waiting, BOUND) == [pid]
        await heard.until(lambda: guest.status().state is State.READY)
    assert State.CRASHED not in heard.states


async def test_a_run_on_a_stopped_process_that_is_given_up_costs_the_process(launcher: Launcher) -> None:
    async with watched(launcher, cared("Waits", "Works", heartbeat=0.3)) as (guest, heard):
        run = begin(guest, "Waits")
        pid = int(text_of(await anext(run)))
        os.kill(pid, signal.SIGSTOP)
        await heard.until_state(State.UNRESPONSIVE)
        await run.aclose()  # as the run's deadline does
        await gone(pid)
        (other,) = await texts(guest, "Works")
        assert int(other) != pid


async def test_other_processes_take_the_runs_of_one_that_does_not_answer(launcher: Launcher, patient: None) -> None:
    async with watched(launcher, cared("Works", workers=2, heartbeat=1.5)) as (guest, heard):
        (stopped,) = await texts(guest, "Works")
        os.kill(int(stopped), signal.SIGSTOP)
        await heard.until(lambda: guest.status().state is State.UNRESPONSIVE)
        answers = {await asyncio.wait_for(one(guest), BOUND) for _ in range(3)}
        assert len(answers) == 1
        assert stopped not in answers
        assert guest.status().state is State.READY


async def one(guest: StartedGuest) -> str:
    (pid,) = await texts(guest, "Works")
    return pid


async def test_an_idle_process_is_stopped_and_the_next_run_starts_another(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works", "Waits", idle_stop=0.3)) as (guest, heard):
        async with waiting_runs(guest, 1) as (busy,):
            await asyncio.sleep(0.8)  # a process in use is not idle
            assert State.DRAINING not in heard.states
        await heard.until_state(State.STOPPED)
        assert heard.states == [State.STARTING, State.READY, State.DRAINING, State.STOPPED]
        assert heard.last(State.DRAINING).reason == "no run for 0.3 s"
        assert await one(guest) != busy


async def test_runs_at_once_get_processes_of_their_own_as_far_as_there_may_be_some(
    launcher: Launcher, patient: None
) -> None:
    async with started(launcher, cared("Waits", workers=3)) as guest, waiting_runs(guest, 6) as pids:
        assert sorted(pids.count(pid) for pid in set(pids)) == [2, 2, 2]
        assert sorted(process.runs for process in guest.status().processes) == [2, 2, 2]


async def test_one_run_after_another_needs_one_process(launcher: Launcher) -> None:
    async with started(launcher, cared("Works", workers=3)) as guest:
        assert len({await one(guest) for _ in range(5)}) == 1


async def test_a_run_too_many_is_busy_and_what_waits_gets_its_turn(launcher: Launcher) -> None:
    async with started(launcher, cared("Waits", "Works", max_runs=2, queue=1)) as guest:
        async with waiting_runs(guest, 2):
            waits = asyncio.ensure_future(one(guest))
            await asyncio.sleep(0)
            assert guest.status().waiting == 1
            with pytest.raises(BusyError, match="2 runs are on it, which may have 2, and 1 wait, as many as may"):
                await one(guest)
            assert not waits.done()
        await asyncio.wait_for(waits, BOUND)


async def test_a_run_that_is_cancelled_in_the_line_leaves_it(launcher: Launcher) -> None:
    async with started(launcher, cared("Waits", "Works", max_runs=1, queue=1)) as guest:
        async with waiting_runs(guest, 1):
            waits = asyncio.ensure_future(one(guest))
            await asyncio.sleep(0)
            waits.cancel()
            await asyncio.gather(waits, return_exceptions=True)
            assert guest.status().waiting == 0
        await asyncio.wait_for(one(guest), BOUND)


async def test_each_run_has_a_process_of_its_own_from_the_reserve(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works", "Waits", scope="run", workers=2, reserve=1)) as (guest, heard):
        await guest.describe()
        pids = [await one(guest) for _ in range(4)]
        assert len(set(pids)) == 4
        async with waiting_runs(guest, 2) as two:
            assert len({*two, *pids}) == 6
            third = asyncio.ensure_future(one(guest))
            await heard.until(lambda: len([p for p in guest.status().processes if p.state is State.READY]) == 3)
            assert not third.done()  # two at once, and no more, though a third process is ready
        assert await asyncio.wait_for(third, BOUND) not in {*two, *pids}
        await gone(*map(int, pids))


async def test_a_run_from_the_reserve_starts_no_process(launcher: Launcher) -> None:
    async with watched(launcher, cared("Works", scope="run", workers=1, reserve=1)) as (guest, heard):
        await guest.describe()
        ready = heard.last(State.READY).pid
        starts = heard.states.count(State.STARTING)
        run = begin(guest, "Works")
        assert int(text_of(await anext(run))) == ready
        assert heard.states.count(State.READY) == 1 or starts == 1
        await run.aclose()


async def test_the_reserve_is_let_go_when_nobody_uses_the_plugin(launcher: Launcher) -> None:
    care = cared("Works", scope="run", workers=1, reserve=1, idle_stop=0.4)
    async with watched(launcher, care) as (guest, heard):
        await one(guest)
        idle = "no run for 0.4 s"
        await heard.until(lambda: idle in [c.reason for c in heard.changes] and not guest.status().processes)
        await asyncio.sleep(0.3)  # nothing starts again by itself
        assert guest.status().processes == ()
        assert len(await texts(guest, "Works")) == 1


async def test_a_stop_ends_what_starts_what_runs_and_what_waits(launcher: Launcher) -> None:
    async with started(launcher, cared("Waits", "Works", max_runs=1)) as guest:
        run = begin(guest, "Waits")
        pid = int(text_of(await anext(run)))
        waits = asyncio.ensure_future(one(guest))
        await asyncio.sleep(0)
        await guest.stop()
        await gone(pid)
        with pytest.raises(LaunchError, match="plugin 'harm' was stopped while it started"):
            await waits
        with pytest.raises(GuestDiedError, match="was stopped under this run: the host stops it"):
            while True:
                await anext(run)
        assert len(await texts(guest, "Works")) == 1  # it may be started again


async def test_twenty_starts_and_stops_leave_nothing(launcher: Launcher) -> None:
    async with started(launcher, cared("Works")) as guest:
        pids = []
        for _ in range(20):
            pids.append(await one(guest))
            await guest.stop()
            assert guest.status().processes == ()
    assert len(set(pids)) == 20

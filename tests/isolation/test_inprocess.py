"""Strategies in the host's own process that do not end: their callers are not held by them."""

import asyncio
import threading

import pytest

from enfilade.inprocess import InProcess
from enfilade_sdk.errors import EnfiladeError
from tests.support.trial_run import begin, events, noted, part, trial_candidate

SOON = 15.0
"""Seconds that stand for `at once` where nothing else would end it: a machine may have much else to do."""


async def test_a_generator_that_sleeps_is_left_to_itself_after_the_grace(caplog: pytest.LogCaptureFixture) -> None:
    runner = InProcess(trial_candidate())
    await part(runner, "Sleep", 1, seconds=5.0, noted=True)
    assert await events(runner) == []  # it sleeps on
    assert "a cancelled strategy of plugin 'trial' did not end within 1 s and is left to itself" in caplog.text
    assert await noted(runner, "woke", SOON) == ["woke"]


async def test_an_async_strategy_that_ignores_its_cancel_is_left_to_itself(caplog: pytest.LogCaptureFixture) -> None:
    runner = InProcess(trial_candidate())
    await part(runner, "Deaf", 1, seconds=5.0)
    assert set(await events(runner)) == {"ignored"}  # it goes on
    assert "run the plugin in a process of its own to have it stopped" in caplog.text
    assert (await noted(runner, "ended", SOON))[-1] == "ended"


async def test_a_caller_that_is_cancelled_is_not_held_either() -> None:
    runner = InProcess(trial_candidate())
    run = begin(runner, "Sleep", seconds=5.0, noted=True)
    await anext(run)
    task = asyncio.ensure_future(anext(run))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await events(runner) == []  # it sleeps on
    assert await noted(runner, "woke", SOON) == ["woke"]


def test_a_loop_is_not_held_at_its_end_by_a_strategy_that_was_left() -> None:
    async def leave_it() -> None:
        await part(InProcess(trial_candidate()), "Sleep", 1, seconds=6.0)

    asyncio.run(leave_it())
    (left,) = [thread for thread in threading.enumerate() if thread.name == "run-r"]  # it sleeps on
    left.join(SOON)


async def test_a_plugin_is_imported_once_and_its_faults_are_told() -> None:
    runner = InProcess(trial_candidate())
    assert await runner.describe() is await runner.describe()
    with pytest.raises(EnfiladeError, match="this plugin has no strategy 'Nobody'"):
        await anext(begin(runner, "Nobody"))

"""Strategies in the host's own process that do not end: their callers are not held by them."""

import asyncio
import threading
from time import monotonic

import pytest

from enfilade.inprocess import InProcess
from enfilade_sdk.errors import EnfiladeError
from tests.support.trial_run import begin, noted, part, texts, trial_candidate


async def test_a_generator_that_sleeps_is_left_to_itself_after_the_grace(caplog: pytest.LogCaptureFixture) -> None:
    runner = InProcess(trial_candidate())
    started = monotonic()
    await part(runner, "Sleep", 1, seconds=2.0, noted=True)
    assert 0.9 < monotonic() - started < 1.9
    assert "a cancelled strategy of plugin 'trial' did not end within 1 s and is left to itself" in caplog.text
    assert await noted(runner, "woke") == ["woke"]


async def test_an_async_strategy_that_ignores_its_cancel_is_left_to_itself(caplog: pytest.LogCaptureFixture) -> None:
    runner = InProcess(trial_candidate())
    started = monotonic()
    await part(runner, "Deaf", 1, seconds=1.5)
    assert monotonic() - started < 1.9
    assert "run the plugin in a process of its own to have it stopped" in caplog.text
    assert set(await noted(runner, "ended")) == {"ignored", "ended"}


async def test_a_caller_that_is_cancelled_is_not_held_either() -> None:
    runner = InProcess(trial_candidate())
    task = asyncio.ensure_future(texts(runner, "Sleep", seconds=2.0))
    await asyncio.sleep(0.1)
    started = monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert monotonic() - started < 1.9


def test_a_loop_is_not_held_at_its_end_by_a_strategy_that_was_left() -> None:
    async def leave_it() -> None:
        await part(InProcess(trial_candidate()), "Sleep", 1, seconds=4.0)

    started = monotonic()
    asyncio.run(leave_it())
    assert monotonic() - started < 2.5
    for thread in threading.enumerate():
        if thread.name == "run-r":
            thread.join(10)


async def test_a_plugin_is_imported_once_and_its_faults_are_told() -> None:
    runner = InProcess(trial_candidate())
    assert await runner.describe() is await runner.describe()
    with pytest.raises(EnfiladeError, match="this plugin has no strategy 'Nobody'"):
        await anext(begin(runner, "Nobody"))

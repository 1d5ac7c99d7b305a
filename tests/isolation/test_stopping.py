"""Closing a run stops the strategy and everything it has open: in this process and in a guest alike."""

import asyncio
from contextlib import aclosing
from time import monotonic

import pytest

from enfilade import inprocess
from enfilade.admission import Runner
from enfilade.config import Limits
from enfilade.isolation import run as guest_run
from enfilade.stream import GuardedStream
from enfilade_sdk.errors import DeadlineExceededError
from tests.support.trial_hatch import Chunks, TrialHatch, hang
from tests.support.trial_run import begin, events, messages, noted, part

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOON = 15.0
GRACE = 60.0


@pytest.fixture(autouse=True)
def patient_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that waits long for strategies to end, so that an end that took all of the grace is told from others."""
    monkeypatch.setattr(inprocess, "CANCEL_GRACE", GRACE)
    monkeypatch.setattr(guest_run, "CANCEL_GRACE", GRACE)


BOTH_FORMS = pytest.mark.parametrize("form", ["", "Blocking"])


async def stopped_while_waiting(runner: Runner, strategy: str, where: str) -> TrialHatch:
    """Runs a strategy until it waits, then cancels the task that reads its messages."""
    hatch = TrialHatch(hang, hang=hang)
    task = asyncio.ensure_future(messages(runner, strategy, hatch, where=where))
    if where == "asleep":
        await asyncio.sleep(0.2)
    else:
        await asyncio.wait_for(hatch.opened.wait(), SOON)
    started = monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert monotonic() - started < SOON  # at once, not after the grace period
    return hatch


@pytest.mark.parametrize("where", ["model", "tool", "storage", "asleep"])
async def test_an_async_strategy_that_waits_meets_cancelled_error(runner: Runner, where: str) -> None:
    hatch = await stopped_while_waiting(runner, "Wait", where)
    assert await events(runner) == ["CancelledError", "finally"]
    assert hatch.open == 0


@pytest.mark.parametrize("where", ["model", "tool", "storage", "asleep"])
async def test_a_blocking_strategy_that_waits_meets_run_cancelled_at_once(runner: Runner, where: str) -> None:
    hatch = await stopped_while_waiting(runner, "WaitBlocking", where)
    assert await events(runner) == ["RunCancelled", "finally"]
    assert hatch.open == 0


async def test_a_generator_meets_run_cancelled_at_its_next_yield(runner: Runner) -> None:
    await part(runner, "TickBlocking", 3)
    assert await events(runner) == ["RunCancelled", "finally"]


async def test_an_async_generator_is_closed(runner: Runner) -> None:
    await part(runner, "Tick", 3)
    met, last = await events(runner)
    assert met in ("CancelledError", "GeneratorExit")
    assert last == "finally"


async def test_a_generator_that_yields_once_more_is_closed(runner: Runner) -> None:
    await part(runner, "Stubborn", 3)
    assert await events(runner) == ["told", "finally"]


@BOTH_FORMS
async def test_a_run_closed_in_the_middle_of_a_model_stream_closes_the_stream(runner: Runner, form: str) -> None:
    chunks = Chunks(10_000_000)
    hatch = TrialHatch(chunks)
    await part(runner, f"Ask{form}", 5, hatch)
    assert (hatch.open, hatch.ended) == (0, 1)
    sent = chunks.sent
    await asyncio.sleep(0.05)
    assert chunks.sent == sent


async def test_forty_streams_cancelled_one_after_another_give_everything_back(runner: Runner) -> None:
    for _ in range(40):
        await part(runner, "TickBlocking", 3)
    started = monotonic()
    noted = await events(runner)
    assert monotonic() - started < SOON
    assert noted.count("finally") == 40


async def test_a_run_that_is_dropped_without_being_closed_ends_too(runner: Runner) -> None:
    run = begin(runner, "TickBlocking")
    await anext(run)
    del run
    assert await noted(runner, "finally") == ["RunCancelled", "finally"]


async def test_a_run_that_was_never_read_opens_nothing(runner: Runner) -> None:
    hatch = TrialHatch(hang)
    await begin(runner, "Ask", hatch).aclose()
    assert hatch.ended == 0
    assert await events(runner) == []


@pytest.mark.parametrize("strategy", ["Wait", "WaitBlocking"])
async def test_the_deadline_stops_a_run_that_waits(runner: Runner, strategy: str) -> None:
    hatch = TrialHatch(hang)
    guarded = GuardedStream(begin(runner, strategy, hatch, where="model"), Limits(), 0.3)
    started = monotonic()
    with pytest.raises(DeadlineExceededError, match=r"the run's time of 0\.3 s is used up"):
        async for _ in guarded.messages():
            pass
    assert monotonic() - started < SOON
    assert hatch.open == 0
    assert "finally" in await events(runner)


async def test_the_deadline_stops_a_run_whose_caller_does_not_read(runner: Runner) -> None:
    guarded = GuardedStream(begin(runner, "TickBlocking"), Limits(), 0.2)
    async with aclosing(guarded.messages()) as run:
        await anext(run)
        await noted(runner, "finally")
        with pytest.raises(DeadlineExceededError):
            async for _ in run:
                pass

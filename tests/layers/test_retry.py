import time
from typing import Any

import pytest

from enfilade.layers.retry import Retry
from enfilade.models.retry_after import retry_after
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import ModelChunk
from tests.layers.scenario import REQUEST, answer, collected, context, hosted, model_inner, run_layers, told
from tests.support.model_turns import error_turn, text_turn

BUSY = ModelFailedError("busy", details={"retryable": True})


def quick(**options: Any) -> Retry:
    """Retries without waiting for long."""
    return Retry(base=0.001, **options)


async def test_a_failure_that_may_pass_is_tried_again_until_it_has_passed() -> None:
    inner = model_inner([BUSY], [BUSY], [ModelChunk("a"), answer("a")])
    items = await collected(run_layers([quick()]).model_calls(inner.stream)(REQUEST))
    assert items == [ModelChunk("a"), answer("a")]
    assert inner.opened == inner.closed == 3


async def test_after_so_many_tries_the_last_error_is_the_answer() -> None:
    inner = model_inner([BUSY])
    with pytest.raises(ModelFailedError) as caught:
        await collected(run_layers([quick(attempts=3)]).model_calls(inner.stream)(REQUEST))
    assert caught.value is BUSY
    assert inner.opened == 3


async def test_a_failure_that_will_not_pass_is_not_tried_again() -> None:
    inner = model_inner([ModelFailedError("no such model", details={"retryable": False})])
    with pytest.raises(ModelFailedError, match="no such model"):
        await collected(run_layers([quick()]).model_calls(inner.stream)(REQUEST))
    assert inner.opened == 1


async def test_nothing_is_tried_again_once_something_went_out() -> None:
    inner = model_inner([ModelChunk("a"), BUSY])
    got: list[Any] = []
    with pytest.raises(ModelFailedError):
        async for item in run_layers([quick()]).model_calls(inner.stream)(REQUEST):
            got.append(item)  # noqa: PERF401 - what comes before an error counts
    assert got == [ModelChunk("a")]
    assert inner.opened == 1


async def test_the_provider_says_how_long_to_wait() -> None:
    inner = model_inner([ModelFailedError("busy", details={"retryable": True, "retry_after": 0.2})], [answer()])
    started = time.monotonic()
    await collected(run_layers([quick()]).model_calls(inner.stream)(REQUEST))
    assert 0.2 <= time.monotonic() - started < 2


async def test_a_provider_that_asks_for_too_long_a_wait_is_not_asked_again() -> None:
    inner = model_inner([ModelFailedError("busy", details={"retryable": True, "retry_after": 3600})])
    with pytest.raises(ModelFailedError):
        await collected(run_layers([quick()]).model_calls(inner.stream)(REQUEST))
    assert inner.opened == 1


async def test_a_run_that_would_not_live_to_see_the_next_try_fails_at_once() -> None:
    inner = model_inner([BUSY])
    layers = run_layers([Retry(base=30)], context(seconds=5))
    with pytest.raises(ModelFailedError):
        await collected(layers.model_calls(inner.stream)(REQUEST))
    assert inner.opened == 1


def test_waits_grow_up_to_the_longest_and_differ() -> None:
    retry = Retry(base=1, longest=5, attempts=20)
    waits = [[retry.pause_after(attempt, BUSY) or 0.0 for _ in range(50)] for attempt in (1, 2, 3, 10)]
    for bound, found in zip([1, 2, 4, 5], waits, strict=True):
        assert all(bound / 2 <= wait <= bound for wait in found)
        assert len(set(found)) > 10


async def test_an_endpoint_that_is_busy_for_a_moment_costs_a_strategy_nothing() -> None:
    busy = error_turn(503, {"error": {"message": "overloaded"}})
    async with hosted([quick()], [busy, busy, text_turn("here")]) as host:
        outcome = await host.ask(told("ask"), "?")
    assert outcome.answer == "here"
    assert len(outcome.rounds) == 1
    assert outcome.rounds[0].error is None


async def test_an_endpoint_says_in_a_header_how_long_to_wait() -> None:
    busy = error_turn(429, {"error": {"message": "slow down"}}, headers={"retry-after-ms": "250"})
    async with hosted([quick()], [busy, text_turn("here")]) as host:
        await host.prepare(told("ask"))
        started = time.monotonic()
        outcome = await host.ask(told("ask"), "?")
    assert outcome.answer == "here"
    assert time.monotonic() - started >= 0.25


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "300", "retry-after": "7"}, 0.3),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_the_header_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds

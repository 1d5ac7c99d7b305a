import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, NextModelCall
from enfilade_sdk.errors import EnfiladeError, LimitExceededError, ModelFailedError
from enfilade_sdk.messages import text_message
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult
from tests.layers.scenario import (
    NOTHING,
    REQUEST,
    Inner,
    answer,
    collected,
    context,
    hosted,
    model_inner,
    run_layers,
    told,
)

Look = Callable[..., Any]
CHUNKS: list[ModelChunk | ModelResult] = [ModelChunk("a"), ModelChunk("b"), ModelChunk("c"), answer("abc")]


async def received(stream: AsyncGenerator[Any, None]) -> tuple[list[Any], EnfiladeError | None]:
    """Everything that a stream gives, and the error that it ends with."""
    got = []
    try:
        async for item in stream:
            got.append(item)  # noqa: PERF401 - what comes before an error counts
    except EnfiladeError as error:
        return got, error
    return got, None


def observer(look: Look) -> Layer:
    """An observing layer of that model call."""
    made: Layer = type("Spy", (Layer,), {"mode": "observing", "model_call": look})()
    return made


async def dies_at_once(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    for nothing in NOTHING:
        yield nothing
    raise ZeroDivisionError("oh")


async def dies_in_the_middle(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        if item is CHUNKS[1]:
            raise ZeroDivisionError("oh")
        yield item


async def refuses(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    for nothing in NOTHING:
        yield nothing
    raise LimitExceededError("not with me")


async def dies_at_the_end(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        yield item
    raise ZeroDivisionError("oh")


async def changes_an_item(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        yield ModelChunk("other") if item is CHUNKS[1] else item


async def keeps_an_item(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        if item is not CHUNKS[1]:
            yield item


async def adds_an_item(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        yield item
    yield ModelChunk("and more")


async def ends_early(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        yield item
        if item is CHUNKS[1]:
            return


async def answers_itself(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    yield answer("from me")


async def changes_the_request(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(ModelRequest(messages=())):
        yield item


async def asks_twice(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        yield item
    async for item in call_next(request):
        yield item


async def cancels_itself(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        if item is CHUNKS[1]:
            raise asyncio.CancelledError
        yield item


async def hangs(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        if item is CHUNKS[1]:
            await asyncio.Event().wait()
        yield item


async def hangs_for_good(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        if item is CHUNKS[1]:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.Event().wait()
        yield item


async def shrugs_a_stop_off(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
    async for item in call_next(request):
        if item is CHUNKS[1]:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        yield item


BAD = [
    dies_at_once,
    dies_in_the_middle,
    refuses,
    dies_at_the_end,
    changes_an_item,
    keeps_an_item,
    adds_an_item,
    ends_early,
    answers_itself,
    changes_the_request,
    asks_twice,
    cancels_itself,
    hangs,
    hangs_for_good,
    shrugs_a_stop_off,
]


@pytest.mark.parametrize("look", BAD)
async def test_nothing_that_an_observer_does_changes_or_ends_a_call(
    look: Look, caplog: pytest.LogCaptureFixture
) -> None:
    layers, inner = run_layers([observer(look)], patience=0.05), model_inner(CHUNKS)
    async with asyncio.timeout(5):
        assert await collected(layers.model_calls(inner.stream)(REQUEST)) == CHUNKS
    assert (inner.opened, inner.closed) == (1, 1)
    assert layers.interruption.error is None
    assert "the observing layer Spy is left out" in caplog.text
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@pytest.mark.parametrize("look", BAD)
async def test_an_observer_cannot_hide_or_replace_an_error(look: Look) -> None:
    failure = ModelFailedError("broke off")
    layers = run_layers([observer(look)], patience=0.05)
    got, raised = await received(layers.model_calls(model_inner([*CHUNKS[:3], failure]).stream)(REQUEST))
    assert raised is failure
    assert got == CHUNKS[:3]


async def test_an_observer_that_swallows_an_error_does_not_keep_it_from_others() -> None:
    async def swallows(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        try:
            async for item in call_next(request):
                yield item
        except EnfiladeError:
            return

    layers = run_layers([observer(swallows)])
    with pytest.raises(ModelFailedError, match="broke off"):
        await collected(layers.model_calls(model_inner([ModelFailedError("broke off")]).stream)(REQUEST))


async def test_a_good_observer_sees_everything_as_it_comes() -> None:
    seen: list[Any] = []

    async def looks(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        async for item in call_next(request):
            seen.append(item)
            yield item

    layers = run_layers([observer(looks)])
    stream = layers.model_calls(model_inner(CHUNKS).stream)(REQUEST)
    for place, _ in enumerate(CHUNKS, start=1):
        await anext(stream)
        assert seen == CHUNKS[:place]
    await stream.aclose()


async def test_an_observer_may_keep_some_items_for_a_while() -> None:
    async def pairs(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        kept = []
        async for item in call_next(request):
            kept.append(item)
            if len(kept) == 2:
                for one in kept:
                    yield one
                kept.clear()
        for one in kept:
            yield one

    assert await collected(run_layers([observer(pairs)]).model_calls(model_inner(CHUNKS).stream)(REQUEST)) == CHUNKS


async def test_a_slow_model_is_no_fault_of_the_observer(caplog: pytest.LogCaptureFixture) -> None:
    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(0.15, gate.set)

    async def looks(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        async for item in call_next(request):
            yield item

    layers = run_layers([observer(looks)], patience=0.02)
    assert await collected(layers.model_calls(model_inner([gate, *CHUNKS]).stream)(REQUEST)) == CHUNKS
    assert "left out" not in caplog.text


async def test_a_cancellation_that_comes_with_the_end_of_patience_is_not_lost() -> None:
    layers, reading = run_layers([observer(hangs)], patience=0.05), asyncio.Event()

    async def read() -> None:
        async for _ in layers.model_calls(model_inner(CHUNKS).stream)(REQUEST):
            reading.set()

    task = asyncio.create_task(read())
    async with asyncio.timeout(5):
        await reading.wait()
        for _ in range(10_000_000):  # until the watch has cancelled it, in this very turn of the loop
            if task.cancelling():
                break
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
    assert task.cancelled()


async def test_an_observer_cannot_end_a_run() -> None:
    async def ends(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        context.interrupt(LimitExceededError("not with me"))
        async for item in call_next(request):
            yield item

    layers = run_layers([observer(ends)])
    assert await collected(layers.model_calls(model_inner(CHUNKS).stream)(REQUEST)) == CHUNKS
    assert layers.interruption.error is None


async def test_giving_up_a_watched_call_closes_all_of_it() -> None:
    closed: list[str] = []

    async def looks(self: Layer, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        try:
            async for item in call_next(request):
                yield item
        finally:
            closed.append("observer")

    inner = model_inner(CHUNKS)
    stream = run_layers([observer(looks)]).model_calls(inner.stream)(REQUEST)
    await anext(stream)
    await stream.aclose()
    assert closed == ["observer"]
    assert inner.closed == 1


async def test_a_run_goes_on_without_its_broken_observer(caplog: pytest.LogCaptureFixture) -> None:
    async def run(self: Layer, context: RunContext, call_next: Any) -> Any:
        async for message in call_next():
            yield message
            raise ZeroDivisionError("oh")

    spy: Layer = type("Spy", (Layer,), {"mode": "observing", "run": run})()
    async with hosted([spy]) as host:
        outcome = await host.ask(told({"say": "x"}, {"say": "y"}), "?")
    assert outcome.text == "xy"
    assert "the observing layer Spy is left out: ZeroDivisionError: oh" in caplog.text


ACTIONS = st.lists(
    st.sampled_from(["take", "give", "give first", "give other", "raise", "end", "open twice"]), max_size=12
)


def erratic(actions: list[str]) -> Layer:
    """An observing layer of runs that does this and that, and then passes the rest on."""

    async def run(self: Layer, context: RunContext, call_next: Any) -> Any:
        stream, held = call_next(), []
        for action in actions:
            if action == "take":
                held.append(await anext(stream))
            elif action.startswith("give"):
                yield (
                    text_message("other") if action == "give other" or not held else held.pop(-("first" not in action))
                )
            elif action == "end":
                return
            elif action == "raise":
                raise ZeroDivisionError
            else:
                call_next()
        async for message in stream:
            yield message

    made: Layer = type("Spy", (Layer,), {"mode": "observing", "run": run})()
    return made


@given(actions=ACTIONS, fails=st.booleans())
@settings(max_examples=300, deadline=None)
def test_whatever_an_observer_does_what_comes_out_is_what_went_in(actions: list[str], fails: bool) -> None:
    failure = ModelFailedError("broke off")
    items = [text_message(word) for word in ("a", "b", "c")]

    async def check() -> None:
        inner = Inner([[*items, failure] if fails else items])
        got, raised = await received(run_layers([erratic(actions)], context()).run(inner.stream))
        assert [id(message) for message in got] == [id(message) for message in items]
        assert raised is (failure if fails else None)
        assert (inner.opened, inner.closed) == (1, 1)

    asyncio.run(check())

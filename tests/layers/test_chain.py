import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import pytest

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, NextModelCall, NextRun, NextToolCall
from enfilade_sdk.errors import LimitExceededError, ModelFailedError
from enfilade_sdk.messages import ToolInvokeMessage, text_message
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ToolRequest, ToolResult
from tests.layers.scenario import (
    LOOK,
    NOTHING,
    REQUEST,
    Inner,
    answer,
    collected,
    hosted,
    model_inner,
    run_layers,
    told,
    tool_inner,
)
from tests.layers.through import Through


async def test_a_chain_without_layers_leaves_every_stream_as_it_is() -> None:
    layers, inner = run_layers([]), model_inner()
    assert layers.model_calls(inner.stream) == inner.stream
    assert layers.tool_calls(inner.stream) == inner.stream
    stream = inner.stream()
    assert layers.run(lambda: stream) is stream
    await stream.aclose()


async def test_layers_that_leave_a_call_alone_do_not_stand_around_it() -> None:
    class OnlyTools(Through):
        model_call = Layer.model_call

    inner = model_inner()
    assert run_layers([OnlyTools(), Layer()]).model_calls(inner.stream) == inner.stream
    assert run_layers([OnlyTools(), Layer()]).tool_calls(inner.stream) != inner.stream


async def test_the_first_layer_is_the_outermost() -> None:
    notes: list[str] = []
    layers = run_layers([Through("a", notes), Through("b", notes)])
    await collected(layers.run(Inner([[text_message("x")]]).stream))
    assert notes == ["a before", "b before", "b after", "a after"]


async def test_pass_through_layers_change_nothing() -> None:
    layers = run_layers([Through() for _ in range(5)])
    chunks, result = [ModelChunk("a"), ModelChunk("b")], answer("ab")
    assert await collected(layers.model_calls(model_inner([*chunks, result]).stream)(REQUEST)) == [*chunks, result]
    said = text_message("hello")
    assert await collected(layers.tool_calls(tool_inner([said, ToolResult("t")]).stream)(LOOK)) == [
        said,
        ToolResult("t"),
    ]
    assert await collected(layers.run(Inner([[said]]).stream)) == [said]


class Changes(Layer):
    async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        async for item in call_next(ModelRequest(messages=request.messages, model="other")):
            yield ModelChunk(item.text.upper()) if isinstance(item, ModelChunk) else item


async def test_a_layer_can_change_what_goes_in_and_what_comes_out() -> None:
    inner = model_inner()
    items = await collected(run_layers([Changes()]).model_calls(inner.stream)(REQUEST))
    assert [item.text for item in items[:-1]] == ["Y", "ES"]
    assert inner.requests[0].model == "other"


class Refuses(Layer):
    async def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> Any:
        for nothing in NOTHING:
            yield nothing
        raise LimitExceededError("not today")


async def test_a_layer_can_refuse_and_what_is_inside_is_never_asked() -> None:
    inner = tool_inner()
    with pytest.raises(LimitExceededError, match="not today"):
        await collected(run_layers([Refuses()]).tool_calls(inner.stream)(LOOK))
    assert inner.opened == 0


class Remembers(Layer):
    async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        yield answer("I know that")


async def test_a_layer_can_answer_itself() -> None:
    inner = model_inner()
    assert await collected(run_layers([Remembers()]).model_calls(inner.stream)(REQUEST)) == [answer("I know that")]
    assert inner.opened == 0


class Again(Layer):
    async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
        try:
            async for item in call_next(request):
                yield item
        except ModelFailedError:
            async for item in call_next(request):
                yield item


async def test_a_layer_can_ask_again() -> None:
    inner = model_inner([ModelFailedError("busy")], [answer()])
    assert await collected(run_layers([Again()]).model_calls(inner.stream)(REQUEST)) == [answer()]
    assert (inner.opened, inner.closed) == (2, 2)


class Impatient(Layer):
    async def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> Any:
        answers = call_next(request)
        try:
            while True:
                async with asyncio.timeout(0.01):
                    item = await anext(answers)
                yield item
        except TimeoutError:
            yield ToolResult("it took too long", is_error=True)


async def test_a_layer_can_time_a_call_out_and_what_is_inside_is_closed() -> None:
    inner = tool_inner([asyncio.Event(), ToolResult("late")])
    items = await collected(run_layers([Impatient()]).tool_calls(inner.stream)(LOOK))
    assert [item.text for item in items] == ["it took too long"]
    assert inner.closed == 1


async def test_what_a_layer_left_half_read_is_closed_with_the_call() -> None:
    class Peeks(Layer):
        async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
            async for _ in call_next(request):
                break
            yield answer()

    inner = model_inner([ModelChunk("a"), ModelChunk("b"), answer()])
    await collected(run_layers([Peeks(), Through()]).model_calls(inner.stream)(REQUEST))
    assert inner.closed == 1


async def test_giving_a_call_up_closes_every_layer_and_what_is_inside() -> None:
    closed: list[str] = []

    class Watches(Through):
        async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
            try:
                async for item in call_next(request):
                    yield item
            finally:
                closed.append(self.name)

    inner = model_inner()
    stream = run_layers([Watches("outer"), Watches("inner")]).model_calls(inner.stream)(REQUEST)
    await anext(stream)
    await stream.aclose()
    assert closed == ["outer", "inner"]
    assert inner.closed == 1


async def test_one_layer_that_fails_to_close_keeps_no_other_from_closing(caplog: pytest.LogCaptureFixture) -> None:
    class Clumsy(Layer):
        async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
            try:
                async for item in call_next(request):
                    yield item
            finally:
                raise RuntimeError("clumsy")

    inner = model_inner()
    stream = run_layers([Clumsy()]).model_calls(inner.stream)(REQUEST)
    await anext(stream)
    await stream.aclose()
    assert inner.closed == 1
    assert "a layer failed while it was closed: RuntimeError: clumsy" in caplog.text


@dataclass
class _Count:
    messages: int = 0


class Counts(Layer):
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    async def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
        async for message in call_next():
            context.state(_Count).messages += 1
            yield message

    async def ended(self, context: RunContext, outcome: Any) -> None:
        self.counts[context.run_id] = context.state(_Count).messages


async def test_runs_at_once_never_share_a_layers_state() -> None:
    layer = Counts()
    async with hosted([layer]) as host:
        runs = [host.run(told(*[{"say": "x"}] * number), "?") for number in range(1, 9)]
        outcomes = await asyncio.gather(*(run.wait() for run in runs))
    assert [layer.counts[outcome.run_id] for outcome in outcomes] == list(range(1, 9))


async def test_two_layers_of_one_class_never_share_state() -> None:
    seen: list[_Count] = []

    class Notes(Layer):
        def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
            assert context.state(_Count) is context.state(_Count)
            seen.append(context.state(_Count))
            return call_next()

    await collected(run_layers([Notes(), Notes()]).run(Inner([[]]).stream))
    assert seen[0] is not seen[1]

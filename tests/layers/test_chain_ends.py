"""What a chain does about faults of layers, and what layers hear of a run's end."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import pytest

from enfilade.layers.chain import Chain
from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, NextModelCall, NextRun, NextToolCall
from enfilade_sdk.errors import EnfiladeError, InternalError, LimitExceededError
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ToolRequest
from tests.layers.scenario import (
    NOTHING,
    REQUEST,
    answer,
    collected,
    context,
    hosted,
    model_inner,
    run_layers,
    told,
)
from tests.layers.through import Through
from tests.support.model_turns import text_turn


def _broken(method: str) -> Layer:
    async def fails(self: Layer, context: RunContext, *rest: Any) -> AsyncGenerator[Any, None]:
        for nothing in NOTHING:
            yield nothing
        raise ZeroDivisionError("oh")

    made: Layer = type("Broken", (Layer,), {method: fails})()
    return made


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
@pytest.mark.parametrize(("method", "step"), [("run", "ask"), ("model_call", "ask"), ("tool_call", ["calculator", {}])])
async def test_a_fault_of_a_guarding_layer_fails_the_run_whatever_the_strategy_does(
    isolation: Any, method: str, step: Any
) -> None:
    agent = told(step, {"say": "never mind"}, brave=True, tools=["calculator"])
    async with hosted([Through(), _broken(method), Through()], [text_turn("hi")], isolation=isolation) as host:
        outcome = await host.ask(agent, "?")
    assert isinstance(outcome.error, InternalError)
    assert outcome.error.message == "the layer Broken failed with ZeroDivisionError: oh"


async def test_a_fault_from_inside_is_no_layers_fault() -> None:
    layers = run_layers([Through("a"), Through("b")])
    with pytest.raises(KeyError):
        await collected(layers.model_calls(model_inner([KeyError("gateway")]).stream)(REQUEST))
    assert layers.interruption.error is None


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([ModelChunk("a")], "a layer ended a call without a ModelResult"),
        ([answer(), ModelChunk("a")], "a layer gave a ModelChunk after a call's result"),
        ([answer(), answer()], "a layer gave a ModelResult after a call's result"),
    ],
)
async def test_a_call_ends_with_exactly_one_result(items: list[Any], text: str) -> None:
    class Gives(Layer):
        async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
            for item in items:
                yield item

    layers = run_layers([Gives()])
    with pytest.raises(InternalError, match=text):
        await collected(layers.model_calls(model_inner().stream)(REQUEST))
    assert layers.interruption.error is not None


def test_what_is_no_layer_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a Layer, got a str"):
        Chain(["limits"])  # type: ignore[list-item]  # what is refused


@dataclass
class Ends(Layer):
    name: str = "ends"
    told: list[str] = field(default_factory=list)

    async def ended(self, context: RunContext, outcome: Any) -> None:
        code = outcome.error.code.value if outcome.error else ""
        self.told.append(f"{self.name} {outcome.status.value} {code}".strip())


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_layers_are_told_once_how_a_run_ended_the_innermost_first(isolation: Any) -> None:
    told_of: list[str] = []
    async with hosted([Ends("a", told_of), Ends("b", told_of)], isolation=isolation) as host:
        await host.ask(told({"say": "x"}), "?")
        assert told_of == ["b succeeded", "a succeeded"]
        told_of.clear()
        await host.ask(told("ask"), "?")
        assert told_of == ["b failed model_failed", "a failed model_failed"]
        told_of.clear()
        run = host.run(told({"say": "x"}, {"say": "y"}), "?")
        await anext(aiter(run))
        await run.aclose()
        assert told_of == ["b cancelled cancelled", "a cancelled cancelled"]


async def test_a_run_that_never_began_ends_for_no_layer() -> None:
    layer = Ends()
    async with hosted([layer]) as host:
        outcome = await host.ask(told(strategy="nonesuch"), "?")
    assert outcome.error is not None
    assert layer.told == []


async def test_a_fault_at_the_end_is_logged_and_the_outcome_stays(caplog: pytest.LogCaptureFixture) -> None:
    class Clumsy(Layer):
        async def ended(self, context: RunContext, outcome: Any) -> None:
            raise RuntimeError("clumsy")

    layer = Ends()
    async with hosted([layer, Clumsy()]) as host:
        outcome = await host.ask(told({"say": "x"}), "?")
    assert outcome.answer == "x"
    assert layer.told == ["ends succeeded"]
    assert "the layer Clumsy failed after run" in caplog.text


async def test_a_layer_around_runs_sees_the_error_that_ended_it() -> None:
    seen: list[EnfiladeError] = []

    class Looks(Layer):
        async def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
            try:
                async for message in call_next():
                    yield message
            except EnfiladeError as error:
                seen.append(error)
                raise

    class Stops(Layer):
        async def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> Any:
            context.interrupt(LimitExceededError("enough"))
            async for item in call_next(request):
                yield item

    async with hosted([Looks(), Stops()]) as host:
        outcome = await host.ask(told(["calculator", {"expression": "1+1"}], tools=["calculator"]), "?")
    assert [error.message for error in seen] == ["enough"]
    assert outcome.error is seen[0]


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
@pytest.mark.parametrize("strategy", ["on-loop", "in-thread"])
async def test_layers_see_strategies_here_and_in_guests_alike(isolation: Any, strategy: str) -> None:
    seen: list[str] = []

    class Looks(Layer):
        async def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
            seen.append(f"{context.strategy} of {context.plugin} for {context.user} with {context.model_name}")
            async for message in call_next():
                seen.append(f"said {getattr(message.message, 'text', message.type.value)}")
                yield message

        async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> Any:
            seen.append(f"asks {request.model}")
            async for item in call_next(request):
                yield item

        async def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> Any:
            seen.append(f"calls {request.name}")
            async for item in call_next(request):
                yield item

    agent = told("ask", ["calculator", {"expression": "6*7"}], strategy=strategy, tools=["calculator"])
    async with hosted([Looks()], [text_turn("hm")], isolation=isolation) as host:
        await host.ask(agent, "?")
    assert seen[0] == f"{strategy} of trial for user with m"
    assert [note for note in seen if note.startswith("said")] == ["said hm", "said 42", "said 42"]
    assert [note for note in seen if not note.startswith("said")][1:] == ["asks m", "calls calculator"]


async def test_a_tool_that_could_not_be_loaded_is_said_through_the_layers() -> None:
    seen: list[str] = []

    class Looks(Layer):
        async def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
            async for message in call_next():
                seen.append(message.type.value)
                yield message

    async with hosted([Looks()]) as host:
        await host.ask(told({"say": "x"}, tools=["nowhere.py:nothing"]), "?")
    assert seen == ["log", "text"]


def test_contexts_show_no_secrets() -> None:
    async def shown() -> str:
        return repr(context())

    assert "params" not in asyncio.run(shown())

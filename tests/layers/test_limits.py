import asyncio
import time
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from enfilade.config import Price
from enfilade.layers.costs import Costs
from enfilade.layers.limits import ExecutionLimits
from enfilade_sdk.errors import EnfiladeError, ErrorCode, LimitExceededError
from enfilade_sdk.messages import ToolInvokeMessage, blob_message, text_message
from enfilade_sdk.prompts import ModelChunk, ToolResult, Usage
from tests.layers.scenario import (
    LOOK,
    REQUEST,
    answer,
    collected,
    context,
    hosted,
    model_inner,
    run_layers,
    told,
    tool_inner,
)
from tests.support.model_turns import Turn, text_turn

SOON = 4.0
"""Seconds within which a stopped run has ended, on a machine that others use too."""


def sleeps() -> str:
    """Sleeps for a minute, in a thread."""
    time.sleep(60)
    return "awake"


async def waits() -> str:
    """Waits for a minute, on the loop."""
    await asyncio.sleep(60)
    return "awake"


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
@pytest.mark.parametrize("strategy", ["on-loop", "in-thread"])
@pytest.mark.parametrize("tool", ["sleeps", "waits"])
async def test_a_tool_that_sleeps_a_minute_under_a_limit_of_a_second_ends_in_about_a_second(
    isolation: Any, strategy: str, tool: str
) -> None:
    agent = told({"say": "here goes"}, [tool, {}], strategy=strategy, tools=[tool], brave=True)
    async with hosted([ExecutionLimits(max_time=1)], isolation=isolation, tools=[sleeps, waits]) as host:
        await host.prepare(agent)
        started = time.monotonic()
        outcome = await host.ask(agent, "?")
        seconds = time.monotonic() - started
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.LIMIT_EXCEEDED
    assert outcome.error.message.startswith("the run has taken longer than its limit of max_time = 1 seconds")
    assert outcome.error.details == {"limit": "max_time", "value": 1.0}
    assert outcome.text == "here goes"
    assert 1.0 <= seconds < SOON


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_a_model_that_never_ends_its_answer_is_interrupted(isolation: Any) -> None:
    async with hosted([ExecutionLimits(max_time=0.5)], [Turn(text=["a", "b"], pause=60)], isolation=isolation) as host:
        agent = told("ask")
        await host.prepare(agent)
        started = time.monotonic()
        outcome = await host.ask(agent, "?")
    assert outcome.error is not None
    assert outcome.error.details == {"limit": "max_time", "value": 0.5}
    assert time.monotonic() - started < SOON


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_one_step_too_many_ends_the_run_whatever_the_strategy_makes_of_it(isolation: Any) -> None:
    agent = told("ask", ["calculator", {"expression": "1"}], "ask", {"say": "!"}, tools=["calculator"], brave=True)
    async with hosted([ExecutionLimits(max_steps=2)], [text_turn("a")], isolation=isolation, repeat_last=True) as host:
        outcome = await host.ask(agent, "?")
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.LIMIT_EXCEEDED
    assert outcome.error.message == (
        "the run has made 2 steps (model and tool calls), and its limit is max_steps = 2: ask for less, or raise "
        "max_steps of the layer 'limits'"
    )
    assert outcome.error.details == {"limit": "max_steps", "value": 2}


async def test_as_many_steps_as_allowed_are_no_fault() -> None:
    async with hosted([ExecutionLimits(max_steps=2)], [text_turn("a")], repeat_last=True) as host:
        assert (await host.ask(told("ask", "ask"), "?")).answer == "aa"


async def test_every_run_has_its_own_account() -> None:
    async with hosted([ExecutionLimits(max_steps=1)], [text_turn("a")], repeat_last=True) as host:
        outcomes = await asyncio.gather(*(host.ask(told("ask"), "?") for _ in range(5)))
    assert [outcome.error for outcome in outcomes] == [None] * 5


async def _model_call(limits: ExecutionLimits, *script: Any, of: Any = None) -> tuple[list[Any], EnfiladeError | None]:
    layers = run_layers([limits], of)
    got: list[Any] = []
    try:
        async for item in layers.model_calls(model_inner(list(script)).stream)(REQUEST):
            got.append(item)  # noqa: PERF401 - what comes before an error counts
    except LimitExceededError as error:
        assert layers.interruption.error is error
        return got, error
    return got, None


async def test_an_answer_that_grows_beyond_the_tokens_is_interrupted_while_it_streams() -> None:
    chunks = [ModelChunk("word " * 8)] * 100
    got, error = await _model_call(ExecutionLimits(max_tokens=100), *chunks, answer("word " * 800))
    assert error is not None
    assert error.details == {"limit": "max_tokens", "value": 100}
    assert error.message.startswith("the run has used about 102 tokens, and its limit is max_tokens = 100")
    assert len(got) == 9


async def test_the_providers_count_wins_over_the_guess() -> None:
    usage = Usage(prompt_tokens=5, completion_tokens=20, total_tokens=25)
    layers = run_layers([ExecutionLimits(max_tokens=60)])
    ask = layers.model_calls(model_inner([ModelChunk("x" * 200), answer("x" * 200, usage)]).stream)
    await collected(ask(REQUEST))
    with pytest.raises(LimitExceededError, match=r"has used about 77 tokens"):
        await collected(ask(REQUEST))


async def test_tokens_over_the_limit_by_the_providers_count_end_the_run() -> None:
    usage = Usage(prompt_tokens=90, completion_tokens=20)
    _, error = await _model_call(ExecutionLimits(max_tokens=100), ModelChunk("x"), answer("x", usage))
    assert error is not None
    assert error.message.startswith("the run has used 110 tokens, and its limit is max_tokens = 100")


async def test_what_a_provider_does_not_count_is_guessed_and_said_to_be() -> None:
    layers = run_layers([ExecutionLimits(max_tokens=100)])
    ask = layers.model_calls(model_inner([ModelChunk("x" * 220), answer("x" * 220)]).stream)
    await collected(ask(REQUEST))
    with pytest.raises(LimitExceededError, match=r"about 1\d\d tokens"):
        await collected(ask(REQUEST))


async def test_calls_at_once_share_the_tokens() -> None:
    gate = asyncio.Event()
    layers = run_layers([ExecutionLimits(max_tokens=100)])
    first = layers.model_calls(model_inner([ModelChunk("x" * 240), gate, answer()]).stream)(REQUEST)
    await anext(first)
    with pytest.raises(LimitExceededError, match="max_tokens"):
        await collected(layers.model_calls(model_inner([ModelChunk("x" * 240), answer()]).stream)(REQUEST))
    await first.aclose()


async def test_a_call_that_brought_nothing_costs_nothing() -> None:
    layers = run_layers([ExecutionLimits(max_tokens=30)])
    inner = model_inner([LimitExceededError("refused")], [ModelChunk("x" * 80), answer("x" * 80)])
    with pytest.raises(LimitExceededError, match="refused"):
        await collected(layers.model_calls(inner.stream)(REQUEST))
    await collected(layers.model_calls(inner.stream)(REQUEST))


async def test_money_is_counted_while_the_answer_streams() -> None:
    of = context(prices={"m": Price(input=Decimal(0), output=Decimal(1_000_000))})
    got, error = await _model_call(
        ExecutionLimits(max_cost=Decimal(10)), *[ModelChunk("abcd")] * 50, answer("abcd" * 50), of=of
    )
    assert error is not None
    assert error.details == {"limit": "max_cost", "value": 10.0}
    assert error.message.startswith("the run has cost about 11.000000 US dollars, and its limit is max_cost = 10")
    assert len(got) == 10


async def test_a_run_with_a_bound_on_money_does_not_begin_when_the_price_is_unknown() -> None:
    async with hosted([ExecutionLimits(max_cost=Decimal(1))], [text_turn("a")]) as host:
        outcome = await host.ask(told("ask"), "?")
    assert outcome.rounds == []
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.INVALID_PARAMS
    assert outcome.error.message == (
        "the limit max_cost = 1 cannot be held, because the price of the model 'm' is not known: add [prices.m] with "
        "input and output (US dollars for a million tokens) to the configuration, or take the bound away"
    )


async def test_money_of_all_calls_of_a_run_adds_up() -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
    prices = {"m": Price(input=Decimal("0.4"), output=Decimal(0))}
    layers = [Costs(), ExecutionLimits(max_cost=Decimal(1))]
    async with hosted(layers, [text_turn("a", usage=usage)], repeat_last=True, config={"prices": prices}) as host:
        assert (await host.ask(told("ask", "ask"), "?")).error is None
        outcome = await host.ask(told("ask", "ask", "ask"), "?")
    assert outcome.error is not None
    assert outcome.error.message.startswith("the run has cost 1.200000 US dollars, and its limit is max_cost = 1:")


@pytest.mark.parametrize(
    "said", [[text_message("x" * 60)] * 3, [blob_message(b"x" * 60, mime_type="text/plain")] * 3], ids=["text", "blob"]
)
async def test_a_tool_that_brings_too_much_is_interrupted(said: list[ToolInvokeMessage]) -> None:
    layers = run_layers([ExecutionLimits(max_bytes=100)])
    got: list[Any] = []
    with pytest.raises(LimitExceededError, match="was given 120 bytes by models and tools, and its limit is max_bytes"):
        async for item in layers.tool_calls(tool_inner([*said, ToolResult("x")]).stream)(LOOK):
            got.append(item)  # noqa: PERF401
    assert len(got) == 1


async def test_a_result_counts_for_what_its_messages_did_not_say() -> None:
    layers = run_layers([ExecutionLimits(max_bytes=100)])
    call = layers.tool_calls(tool_inner([text_message("x" * 60), ToolResult("x" * 60)]).stream)
    await collected(call(LOOK))
    with pytest.raises(LimitExceededError, match="was given 120 bytes"):
        await collected(call(LOOK))


async def test_an_answer_with_too_many_bytes_is_interrupted() -> None:
    got, error = await _model_call(ExecutionLimits(max_bytes=100), *[ModelChunk("x" * 60)] * 3, answer())
    assert error is not None
    assert error.details == {"limit": "max_bytes", "value": 100}
    assert len(got) == 1


@pytest.mark.parametrize("option", ["max_steps", "max_time", "max_tokens", "max_cost", "max_bytes"])
def test_a_limit_of_nothing_is_refused(option: str) -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        ExecutionLimits(**{option: 0})  # type: ignore[arg-type]  # options of several types


async def test_every_host_has_limits_unless_it_says_otherwise() -> None:
    agent = told(*[["calculator", {"expression": "1"}]] * 501, tools=["calculator"])
    async with hosted(None) as host:
        outcome = await host.ask(agent, "?")
    assert outcome.error is not None
    assert outcome.error.details == {"limit": "max_steps", "value": 500}
    async with hosted([]) as host:
        assert (await host.ask(agent, "?")).error is None

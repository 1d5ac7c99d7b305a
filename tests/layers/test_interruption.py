import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from enfilade.layers.context import RunContext
from enfilade.layers.interruption import Interruption
from enfilade.layers.layer import Layer, NextRun, NextToolCall
from enfilade.layers.limits import ExecutionLimits
from enfilade_sdk.errors import ErrorCode, LimitExceededError
from enfilade_sdk.messages import ToolInvokeMessage
from tests.layers.scenario import NOTHING, hosted, told

ENOUGH = LimitExceededError("enough")


class Stops(Layer):
    """Ends the run at its first tool call, and lets the call go on as if it did not matter."""

    async def tool_call(self, context: RunContext, request: Any, call_next: NextToolCall) -> Any:
        context.interrupt(ENOUGH)
        async for item in call_next(request):
            yield item


async def sleepy() -> str:
    """Sleeps for a minute."""
    await asyncio.sleep(60)
    return "awake"


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
@pytest.mark.parametrize("strategy", ["on-loop", "in-thread"])
async def test_an_interrupted_run_ends_at_once_with_the_error_and_keeps_what_was_said(
    isolation: Any, strategy: str
) -> None:
    agent = told({"say": "so far"}, ["sleepy", {}], {"say": "no more"}, strategy=strategy, tools=["sleepy"], brave=True)
    async with hosted([Stops()], isolation=isolation, tools=[sleepy]) as host:
        await host.prepare(agent)
        async with asyncio.timeout(5):
            outcome = await host.ask(agent, "?")
    assert outcome.error is ENOUGH
    assert outcome.text == "so far"


async def test_a_strategy_that_takes_the_refusal_and_ends_well_has_been_interrupted_all_the_same() -> None:
    class Refuses(Layer):
        async def tool_call(self, context: RunContext, request: Any, call_next: NextToolCall) -> Any:
            context.interrupt(ENOUGH)
            for nothing in NOTHING:
                yield nothing
            raise ENOUGH

    async with hosted([Refuses()]) as host:
        outcome = await host.ask(told(["calculator", {}], brave=True, tools=["calculator"]), "?")
    assert outcome.error is ENOUGH


async def test_a_layer_that_waits_is_interrupted_too() -> None:
    class Waits(Layer):
        async def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
            asyncio.get_running_loop().call_soon(context.interrupt, ENOUGH)
            await asyncio.Event().wait()
            async for message in call_next():
                yield message

    async with hosted([Waits()]) as host, asyncio.timeout(5):
        outcome = await host.ask(told({"say": "x"}), "?")
    assert outcome.error is ENOUGH


async def test_a_run_that_nobody_reads_is_let_go_and_its_reader_meets_the_error_later() -> None:
    let_go = asyncio.Event()
    contexts: list[RunContext] = []

    class Looks(Layer):
        async def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
            contexts.append(context)
            try:
                async for message in call_next():
                    yield message
            finally:
                let_go.set()

    async with hosted([Looks()]) as host:
        run = host.run(told({"say": "x"}, {"say": "y"}), "?")
        await anext(aiter(run))
        contexts[0].interrupt(ENOUGH)
        async with asyncio.timeout(5):
            await let_go.wait()
        with pytest.raises(LimitExceededError, match="enough"):
            async for _ in run:
                pass
    assert run.outcome is not None
    assert run.outcome.text == "x"


async def test_only_the_first_interruption_counts() -> None:
    class Twice(Layer):
        async def tool_call(self, context: RunContext, request: Any, call_next: NextToolCall) -> Any:
            context.interrupt(ENOUGH)
            context.interrupt(LimitExceededError("more than enough"))
            async for item in call_next(request):
                yield item

    async with hosted([Twice()]) as host:
        outcome = await host.ask(told(["calculator", {}], tools=["calculator"]), "?")
    assert outcome.error is ENOUGH


async def test_an_interruption_after_the_end_does_nothing() -> None:
    contexts: list[RunContext] = []

    class Looks(Layer):
        def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
            contexts.append(context)
            return call_next()

    async with hosted([Looks()]) as host:
        outcome = await host.ask(told({"say": "x"}), "?")
        contexts[0].interrupt(ENOUGH)
        await asyncio.sleep(0)
    assert outcome.error is None


async def test_a_cancellation_by_the_caller_is_not_taken_for_an_interruption() -> None:
    interruption = Interruption()
    waiting = asyncio.Event()

    async def forever() -> AsyncGenerator[int, None]:
        waiting.set()
        await asyncio.Event().wait()
        yield 1

    async def read() -> None:
        stream = interruption.within(forever())
        try:
            await interruption.next(stream)
        finally:
            await interruption.close(stream)

    task = asyncio.create_task(read())
    await waiting.wait()
    interruption.interrupt(ENOUGH)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


async def test_the_reader_can_go_on_waiting_for_other_things_after_an_interruption() -> None:
    """The cancellation that stopped it must leave no trace in its task."""
    interruption = Interruption()
    waiting = asyncio.Event()

    async def forever() -> AsyncGenerator[int, None]:
        waiting.set()
        await asyncio.Event().wait()
        yield 1

    async def read() -> str:
        stream = interruption.within(forever())
        with pytest.raises(LimitExceededError):
            await interruption.next(stream)
        await interruption.close(stream)
        await asyncio.sleep(0)
        task = asyncio.current_task()
        return f"{task.cancelling()} cancellations" if task else ""

    task = asyncio.create_task(read())
    await waiting.wait()
    interruption.interrupt(ENOUGH)
    assert await task == "0 cancellations"


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_the_deadline_of_a_run_is_an_interruption_like_any_other(isolation: Any) -> None:
    agent = told({"say": "so far"}, ["sleepy", {}], tools=["sleepy"])
    async with hosted([], isolation=isolation, tools=[sleepy]) as host:
        await host.prepare(agent)
        async with asyncio.timeout(5):
            outcome = await host.ask(agent, "?", timeout=0.5)
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.DEADLINE
    assert outcome.error.message == "the run's time of 0.5 s is used up"
    assert outcome.text == "so far"


async def test_the_deadline_and_a_limit_at_the_same_moment_end_the_run_once() -> None:
    agent = told(["sleepy", {}], tools=["sleepy"])
    async with hosted([ExecutionLimits(max_time=0.2)], tools=[sleepy]) as host:
        await host.prepare(agent)
        async with asyncio.timeout(5):
            outcomes = await asyncio.gather(*(host.ask(agent, "?", timeout=0.2) for _ in range(10)))
    assert {outcome.error.code for outcome in outcomes if outcome.error} <= {
        ErrorCode.DEADLINE,
        ErrorCode.LIMIT_EXCEEDED,
    }
    assert all(outcome.error for outcome in outcomes)

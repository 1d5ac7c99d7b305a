"""Bounds what one run may use, and interrupts whatever passes a bound."""

import asyncio
from decimal import Decimal
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from enfilade.layers.context import RunContext
from enfilade.layers.layer import (
    Layer,
    MessageStream,
    ModelStream,
    NextModelCall,
    NextRun,
    NextToolCall,
    ToolStream,
)
from enfilade.layers.spending import Bounds, ModelCallMeter, Spending
from enfilade.layers.weight import size_of
from enfilade.outcome import Outcome
from enfilade_sdk.errors import LimitExceededError
from enfilade_sdk.prompts import ModelRequest, ToolRequest, ToolResult, Usage


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, eq=False)
class ExecutionLimits(Layer):
    """Ends a run that uses more than it may, in the middle of a call too. None is no bound.

    Attributes:
        max_steps: Model calls and tool calls together.
        max_time: Seconds from the strategy's start.
        max_tokens: Tokens of all model calls, as the providers count them; while an answer streams, and where a
            provider does not say, four characters are taken for one.
        max_cost: US dollars of all model calls. A run whose model has no known price does not begin.
        max_bytes: Bytes (characters, for text) of all that models and tools answer.
    """

    max_steps: Annotated[int, Field(gt=0)] | None = 500
    max_time: Annotated[float, Field(gt=0)] | None = 1200.0
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    max_cost: Annotated[Decimal, Field(gt=0)] | None = None
    max_bytes: Annotated[int, Field(gt=0)] | None = None

    name = "limits"

    def run(self, context: RunContext, call_next: NextRun) -> MessageStream:
        """Ends the run when its time is up."""
        if self.max_time is not None:
            self._spending(context).timer = self._timer(context, self.max_time)
        return call_next() if self.max_cost is None else self._with_known_price(context, call_next)

    async def ended(self, context: RunContext, outcome: Outcome) -> None:  # noqa: ARG002 - every end is alike here
        """Gives up the clock."""
        if (timer := self._spending(context).timer) is not None:
            timer.cancel()

    def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        """Counts a step, and what the model answers where that is bounded."""
        spending = self._spending(context)
        spending.add_step()
        if self.max_tokens is None and self.max_cost is None and self.max_bytes is None:
            return call_next(request)
        return _metered(spending, request, call_next)

    def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        """Counts a step, and what the tool answers where that is bounded."""
        spending = self._spending(context)
        spending.add_step()
        return call_next(request) if self.max_bytes is None else _weighed(spending, call_next(request))

    def _spending(self, context: RunContext) -> Spending:
        return context.state(lambda: Spending(context, self._bounds()))

    def _bounds(self) -> Bounds:
        return Bounds(self.max_steps, self.max_tokens, self.max_cost, self.max_bytes)

    async def _with_known_price(self, context: RunContext, call_next: NextRun) -> MessageStream:
        await context.prices.loaded()
        self._spending(context).price(Usage(prompt_tokens=1, completion_tokens=1))
        async for message in call_next():
            yield message

    def _timer(self, context: RunContext, seconds: float) -> asyncio.TimerHandle:
        error = LimitExceededError(
            f"the run has taken longer than its limit of max_time = {seconds:g} seconds: ask for less, or raise "
            "max_time of the layer 'limits'",
            details={"limit": "max_time", "value": seconds},
        )
        return asyncio.get_running_loop().call_later(seconds, context.interrupt, error)


async def _metered(spending: Spending, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
    with ModelCallMeter(spending, request) as meter:
        spending.check()
        async for answer in call_next(request):
            meter.add(answer)
            yield answer


async def _weighed(spending: Spending, answers: ToolStream) -> ToolStream:
    given = 0
    async for answer in answers:
        size = max(0, len(answer.text) - given) if isinstance(answer, ToolResult) else size_of(answer)
        given += size
        spending.add_bytes(size)
        yield answer

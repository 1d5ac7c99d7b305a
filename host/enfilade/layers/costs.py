"""Prices the model calls of a run."""

from collections.abc import AsyncGenerator
from decimal import Decimal

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, MessageStream, ModelStream, NextModelCall, NextRun
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, Usage


class Costs(Layer):
    """Lets the ledger price each model call of a run, and the outcome their sum.

    Prices come from `[prices]` of the configuration, else from the package `genai-prices` (extra `[prices]`); what
    neither knows is unknown, which is not 0.
    """

    name = "costs"

    def run(self, context: RunContext, call_next: NextRun) -> MessageStream:
        """Asks for prices from here on."""
        latest: tuple[Usage | None, Decimal | None] = (None, None)

        def price(usage: Usage) -> Decimal | None:
            nonlocal latest  # several ask for the price of the same call, one right after the other
            if latest[0] is not usage:
                latest = (usage, context.prices.cost(context.model_name, context.settings, usage))
            return latest[1]

        context.prices.begin_loading()
        context.ledger.pricing = price
        return call_next()

    def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        """Sees to it that prices are there before the first result is."""
        answers = call_next(request)
        return answers if context.prices.are_loaded else _priced(context, answers)


async def _priced(context: RunContext, answers: ModelStream) -> AsyncGenerator[ModelChunk | ModelResult, None]:
    async for answer in answers:
        if isinstance(answer, ModelResult):
            await context.prices.loaded()
        yield answer

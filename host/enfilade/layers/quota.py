"""What users, plugins and models may use in a span of time, over all runs."""

from dataclasses import field
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, SkipValidation, model_validator
from pydantic.dataclasses import dataclass

from enfilade.layers.context import RunContext
from enfilade.layers.counts import Counts, MemoryCounts
from enfilade.layers.estimate import CallEstimate, is_counted, total_of
from enfilade.layers.known_price import known_price
from enfilade.layers.layer import Layer, ModelStream, NextModelCall, NextToolCall, ToolStream
from enfilade.ration import Amounts, Ration, Reservation
from enfilade_sdk.errors import QuotaExceededError
from enfilade_sdk.prompts import ModelRequest, ModelResult, ToolRequest, Usage

Party = Literal["user", "plugin", "strategy", "model", "conversation"]


@dataclass(config=ConfigDict(extra="forbid", arbitrary_types_allowed=True), kw_only=True, eq=False)
class Quota(Layer):
    """Refuses calls of those who have used what they may use.

    What a call will take is set aside before it is made, and what it took is counted after it, so that runs at the
    same time cannot use the same rest twice. A call that would take more than there is left is refused; a refused
    tool call is told to the model.

    Attributes:
        per: Who shares one quota: `("user",)` gives each user one, `("user", "model")` each user one for each model,
            and `()` is one for all.
        window: Seconds; what was used longer ago does not count any more.
        tokens: Tokens of model calls in a window.
        cost: US dollars of model calls in a window. A model whose price is not known is refused.
        calls: Model calls in a window.
        tool_calls: Tool calls in a window.
        answer_tokens: What is set aside for an answer when the request does not say `max_tokens`.
        counts: Where the counts are kept.
    """

    per: tuple[Party, ...] = ("user",)
    window: Annotated[float, Field(gt=0)] = 3600.0
    tokens: Annotated[int, Field(ge=0)] | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    calls: Annotated[int, Field(ge=0)] | None = None
    tool_calls: Annotated[int, Field(ge=0)] | None = None
    answer_tokens: Annotated[int, Field(ge=0)] = 1000
    counts: SkipValidation[Counts] = field(default_factory=MemoryCounts)

    name = "quota"

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if not self._model_limits and self.tool_calls is None:
            raise ValueError("give at least one of tokens, cost, calls, tool_calls")
        return self

    def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        """Makes a call that there is enough left for."""
        return self._counted(context, request, call_next) if self._model_limits else call_next(request)

    def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        """Makes a call that there is enough left for."""
        return call_next(request) if self.tool_calls is None else self._tool_counted(context, request, call_next)

    async def _counted(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        if self.cost is not None:
            await context.prices.loaded()
        estimate = CallEstimate(request)
        reservation = await self._reserved(context, self._model_limits, self._expected(context, request, estimate))
        settled = False
        try:
            async for answer in call_next(request):
                estimate.add(answer)
                if isinstance(answer, ModelResult) and not settled:
                    settled = True
                    await self._settle(reservation, self._used(context, answer.usage, estimate))
                yield answer
        finally:
            if not settled:  # it failed or was given up: it counts for what it has brought
                used = self._used(context, Usage(), estimate) if estimate.characters else {"calls": 1}
                await self._settle(reservation, used)

    async def _tool_counted(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        await self._reserved(context, {"tool_calls": self.tool_calls or 0}, {"tool_calls": 1})
        async for answer in call_next(request):
            yield answer

    @property
    def _model_limits(self) -> dict[str, float]:
        limits = {"tokens": self.tokens, "cost": self.cost, "calls": self.calls}
        return {what: limit for what, limit in limits.items() if limit is not None}

    def _expected(self, context: RunContext, request: ModelRequest, estimate: CallEstimate) -> Amounts:
        most = request.parameters.get("max_tokens")
        answer = most if isinstance(most, int) else self.answer_tokens
        amounts: dict[str, float] = {"tokens": estimate.prompt + answer, "calls": 1}
        if self.cost is not None:
            amounts["cost"] = self._price(context, Usage(prompt_tokens=estimate.prompt, completion_tokens=answer))
        return amounts

    def _used(self, context: RunContext, said: Usage, estimate: CallEstimate) -> Amounts:
        amounts: dict[str, float] = {"tokens": total_of(said) or estimate.prompt + estimate.answer, "calls": 1}
        if self.cost is not None:
            amounts["cost"] = self._price(context, said if is_counted(said) else estimate.usage)
        return amounts

    def _price(self, context: RunContext, usage: Usage) -> float:
        return float(known_price(context, usage, f"the quota cost = {self.cost:g}"))

    async def _settle(self, reservation: Reservation, used: Amounts) -> None:
        await self.counts.settle(reservation, {what: used.get(what, 0) for what in reservation.amounts})

    async def _reserved(self, context: RunContext, limits: Amounts, amounts: Amounts) -> Reservation:
        ration = Ration(self._key(context), self.window, limits)
        answer = await self.counts.reserve(ration, {what: amounts[what] for what in limits})
        if isinstance(answer, Reservation):
            return answer
        limit, asked = limits[answer.what], amounts[answer.what]
        whose = f" for {ration.key}" if ration.key else ""
        raise QuotaExceededError(
            f"the quota of {limit:g} {answer.what} in {self.window:g} seconds{whose} is used up: {answer.used:g} are "
            f"used or set aside and this call takes about {asked:g}; some are free again in {answer.seconds:.0f} s",
            details={
                "quota": answer.what,
                "limit": limit,
                "used": answer.used,
                "asked": asked,
                "retry_after": round(answer.seconds, 3),
            },
        )

    def _key(self, context: RunContext) -> str:
        parties: dict[Party, str] = {
            "user": context.user,
            "plugin": context.plugin,
            "strategy": context.strategy,
            "model": context.model_name,
            "conversation": context.conversation or "",
        }
        return ", ".join(f"{party} {parties[party]!r}" for party in self.per)

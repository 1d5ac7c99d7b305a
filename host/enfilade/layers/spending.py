"""What one run has used, held against its limits."""

from asyncio import TimerHandle
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NoReturn, Self

from enfilade.layers.context import RunContext
from enfilade.layers.estimate import CallEstimate, is_counted, total_of
from enfilade.layers.known_price import known_price
from enfilade_sdk.errors import LimitExceededError
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, Usage

_SAMPLE = 1000
"""Tokens of an answer whose price tells that of one."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a run may use; None is no bound. See `ExecutionLimits`."""

    steps: int | None = None
    tokens: int | None = None
    cost: Decimal | None = None
    bytes: int | None = None


@dataclass(slots=True)
class Spending:
    """One run's account.

    Attributes:
        context: The run, which is interrupted when it passes a bound.
        bounds: The bounds.
        steps: Model and tool calls.
        tokens: Of the model calls that have ended.
        cost: Of the model calls that have ended, in US dollars.
        bytes: Of what models and tools answered.
        guessed: Whether a provider did not say how many tokens there were.
        timer: Ends the run when its time is up.
    """

    context: RunContext
    bounds: Bounds
    steps: int = 0
    tokens: int = 0
    cost: Decimal = Decimal()
    bytes: int = 0
    guessed: bool = False
    timer: TimerHandle | None = None
    under_way: "set[ModelCallMeter]" = field(default_factory=set)

    def add_step(self) -> None:
        """Counts a call that is about to be made.

        Raises:
            LimitExceededError: It is one too many.
        """
        if self.bounds.steps is not None and self.steps >= self.bounds.steps:
            self._exceeded("max_steps", self.bounds.steps, f"has made {self.steps} steps (model and tool calls)")
        self.steps += 1

    def add_bytes(self, size: int) -> None:
        """Counts bytes of an answer.

        Raises:
            LimitExceededError: There are too many.
        """
        self.bytes += size
        if self.bounds.bytes is not None and self.bytes > self.bounds.bytes:
            self._exceeded("max_bytes", self.bounds.bytes, f"was given {self.bytes} bytes by models and tools")

    def check(self) -> None:
        """Holds tokens and cost against their bounds, with what is under way.

        Raises:
            LimitExceededError: A bound is passed.
        """
        if self.bounds.tokens is not None:
            tokens = self.tokens + sum(meter.tokens for meter in self.under_way)
            if tokens > self.bounds.tokens:
                self._exceeded("max_tokens", self.bounds.tokens, f"has used {self._about}{tokens} tokens")
        if self.bounds.cost is not None:
            cost = self.cost + sum((meter.cost for meter in self.under_way), Decimal())
            if cost > self.bounds.cost:
                self._exceeded("max_cost", self.bounds.cost, f"has cost {self._about}{cost:.6f} US dollars")

    def price(self, usage: Usage) -> Decimal:
        """What a call costs.

        Raises:
            ConfigError: The model's price is not known, so that the bound cannot be held.
        """
        return known_price(self.context, usage, f"the limit max_cost = {self.bounds.cost}")

    @property
    def _about(self) -> str:
        return "about " if self.guessed or self.under_way else ""

    def _exceeded(self, name: str, bound: int | Decimal, what: str) -> NoReturn:
        error = LimitExceededError(
            f"the run {what}, and its limit is {name} = {bound}: ask for less, or raise {name} of the layer 'limits'",
            details={"limit": name, "value": float(bound) if isinstance(bound, Decimal) else bound},
        )
        self.context.interrupt(error)
        raise error


class ModelCallMeter:
    """Guesses what one model call has used until its provider says so.

    Args:
        spending: The run's account; the call is part of it while the meter is entered.
        request: What is asked.
    """

    def __init__(self, spending: Spending, request: ModelRequest) -> None:
        self._spending = spending
        self._estimate = CallEstimate(request)
        self._prompt_cost = self._token_cost = Decimal()
        if spending.bounds.cost is not None:
            prompt = Usage(prompt_tokens=self._estimate.prompt, completion_tokens=0)
            self._prompt_cost = spending.price(prompt)
            both = spending.price(prompt.model_copy(update={"completion_tokens": _SAMPLE}))
            self._token_cost = (both - self._prompt_cost) / _SAMPLE

    @property
    def tokens(self) -> int:
        """About how many tokens the call has used so far."""
        return self._estimate.prompt + self._estimate.answer

    @property
    def cost(self) -> Decimal:
        """About what it has cost so far."""
        return self._prompt_cost + self._token_cost * self._estimate.answer

    def __enter__(self) -> Self:
        self._spending.under_way.add(self)
        return self

    def __exit__(self, *_error: object) -> None:
        """Counts a call that did not come to its end for what it has brought."""
        if self in self._spending.under_way:
            self._spending.under_way.discard(self)
            if self._estimate.characters:
                self._count(self.tokens, self.cost, guessed=True)

    def add(self, answer: ModelChunk | ModelResult) -> None:
        """Counts what came.

        Raises:
            LimitExceededError: A bound of the run is passed.
            ConfigError: The run has a bound on cost, and the price is not known.
        """
        self._spending.add_bytes(self._estimate.add(answer))
        if isinstance(answer, ModelResult):
            self._end(answer)
        self._spending.check()

    def _end(self, result: ModelResult) -> None:
        tokens = total_of(result.usage)
        priced = is_counted(result.usage) and self._spending.bounds.cost is not None
        cost = self._spending.price(result.usage) if priced else self.cost
        self._spending.under_way.discard(self)
        self._count(self.tokens if tokens is None else tokens, cost, guessed=tokens is None)

    def _count(self, tokens: int, cost: Decimal, *, guessed: bool) -> None:
        self._spending.tokens += tokens
        self._spending.cost += cost
        self._spending.guessed |= guessed

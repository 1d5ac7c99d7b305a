"""What the host itself saw of a run: its rounds, calls and tokens, whatever the strategy says of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from enfilade_sdk.prompts import ModelResult, ToolRequest, ToolResult, Usage

Pricing = Callable[[Usage], Decimal | None]
"""What a model call of this usage costs, in US dollars; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the model calls of a run cost together, in US dollars.

    Attributes:
        known: The sum of the calls whose price is known.
        unknown: How many calls there were whose price is not known.
    """

    known: Decimal
    unknown: int = 0

    @property
    def amount(self) -> Decimal | None:
        """The sum; None when the price of a call is not known."""
        return None if self.unknown else self.known

    def to_json(self) -> dict[str, Any]:
        """Its JSON form; `cost` is the word `unknown` when the price of a call is not known, never 0."""
        form: dict[str, Any] = {"cost": cost_json(self.amount), "currency": "USD"}
        return form | ({"known_cost": cost_json(self.known)} if self.unknown and self.known else {})


def cost_json(amount: Decimal | None) -> float | str:
    """An amount's JSON form."""
    return "unknown" if amount is None else float(amount)


@dataclass(slots=True)
class CallEntry:
    """One tool call. `result` is None while it runs and for one that was given up."""

    tool: str
    call_id: str
    arguments: Any
    result: str | None = None
    is_error: bool = False
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        return {
            "tool": self.tool,
            "call_id": self.call_id,
            "arguments": self.arguments,
            "result": self.result,
            "is_error": self.is_error,
            "seconds": round(self.seconds, 6),
        }


@dataclass(slots=True)
class RoundEntry:
    """One model call and the tool calls that followed it. A `cost` of None is not known, which is not 0.

    `priced` says whether somebody asked for it: only then it is in the JSON form, as the word `unknown` if need be.
    """

    position: int
    model: str = ""
    provider: str = ""
    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    cost: Decimal | None = None
    priced: bool = False
    error: str | None = None
    calls: list[CallEntry] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        return {
            "position": self.position,
            "model": self.model,
            "provider": self.provider,
            "text": self.text,
            "reasoning": self.reasoning,
            "finish_reason": self.finish_reason,
            "usage": self.usage.model_dump(),
            "seconds": round(self.seconds, 6),
            **({"cost": cost_json(self.cost)} if self.priced else {}),
            "error": self.error,
            "calls": [call.to_json() for call in self.calls],
        }


@dataclass(slots=True)
class Refusal:
    """A call the run was not granted."""

    kind: str
    name: str


@dataclass(slots=True)
class Ledger:
    """One run's account. A model call opens a round; tool calls belong to the latest one.

    Attributes:
        rounds: What happened.
        refusals: What was asked for and not granted.
        pricing: Tells what a model call costs; None when nobody asks.
    """

    rounds: list[RoundEntry] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    pricing: Pricing | None = None

    @property
    def cost(self) -> Cost | None:
        """What the model calls cost; None when nobody asked."""
        if self.pricing is None:
            return None
        costs = [entry.cost for entry in self.rounds if entry.model]
        known = [cost for cost in costs if cost is not None]
        return Cost(sum(known, Decimal()), len(costs) - len(known))

    @property
    def usage(self) -> Usage:
        """Tokens of all model calls; None where no provider said."""
        total = Usage()
        for entry in self.rounds:
            total += entry.usage
        return total

    def model_called(self, model: str, provider: str) -> RoundEntry:
        """Opens a round."""
        entry = RoundEntry(len(self.rounds) + 1, model, provider, priced=self.pricing is not None)
        self.rounds.append(entry)
        return entry

    def model_done(self, entry: RoundEntry, result: ModelResult) -> None:
        """Writes down how a round's model call ended."""
        entry.text = result.message.content or ""
        entry.reasoning = result.message.reasoning or ""
        entry.finish_reason = result.finish_reason
        entry.usage = result.usage
        entry.seconds = result.seconds
        if self.pricing is not None:
            entry.cost = self.pricing(result.usage)

    def tool_called(self, request: ToolRequest) -> CallEntry:
        """Opens a tool call."""
        entry = CallEntry(request.name, request.call_id, request.arguments)
        if not self.rounds:
            self.rounds.append(RoundEntry(1))
        self.rounds[-1].calls.append(entry)
        return entry

    def tool_done(self, entry: CallEntry, result: ToolResult) -> None:
        """Writes down how a tool call ended."""
        entry.arguments = result.details.get("arguments", entry.arguments)
        entry.result, entry.is_error, entry.seconds = result.text, result.is_error, result.seconds

    def refused(self, kind: str, name: str) -> None:
        """Writes down a call that the run was not granted."""
        self.refusals.append(Refusal(kind, name))

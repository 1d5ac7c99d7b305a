"""One run as its layers see it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.layers.interruption import Interruption
from enfilade.layers.prices import Prices
from enfilade.ledger import Ledger
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.invocation import Invocation, ModelInfo
from enfilade_sdk.parameters import AgentStrategyParameter

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run is, and what a layer may do to it. Each layer has one of its own for each run.

    Attributes:
        plugin: The plugin whose strategy runs.
        agent: The agent's set-up.
        question: What is asked, by whom, in which conversation.
        invocation: All that the strategy was told. Its `params` may hold secrets: do not write them down.
        parameters: The parameters that the strategy declares; they tell which of `params` are secret.
        model: The run's model and what it can do.
        model_name: What the host's configuration calls that model.
        settings: That model's settings.
        ledger: What the host has seen of the run so far.
        prices: What models cost.
        deadline: When the run's time is used up, as the event loop counts (`asyncio.get_running_loop().time()`).
        interruption: What `interrupt` uses.
    """

    plugin: str
    agent: AgentConfig = field(repr=False)
    question: Question = field(repr=False)
    invocation: Invocation = field(repr=False)
    parameters: Sequence[AgentStrategyParameter] = field(repr=False)
    model: ModelInfo
    model_name: str
    settings: ModelSettings = field(repr=False)
    ledger: Ledger = field(repr=False)
    prices: Prices = field(repr=False)
    deadline: float
    interruption: Interruption = field(repr=False, default_factory=Interruption)
    _state: list[Any] = field(repr=False, default_factory=list)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.invocation.run_id

    @property
    def user(self) -> str:
        """Who asks."""
        return self.question.user_id

    @property
    def conversation(self) -> str | None:
        """The conversation it belongs to."""
        return self.question.conversation_id

    @property
    def strategy(self) -> str:
        """The strategy's name."""
        return self.invocation.strategy

    @property
    def remaining(self) -> float:
        """Seconds until the deadline; not below 0."""
        return max(0.0, self.deadline - asyncio.get_running_loop().time())

    def state(self, make: Callable[[], S]) -> S:
        """The layer's own value for this run: made at the first call, the same at every later one.

        Args:
            make: Makes it; always give the same.
        """
        if not self._state:
            self._state.append(make())
        return cast(S, self._state[0])

    def interrupt(self, error: EnfiladeError) -> None:
        """Ends the run with this error, whatever it is at just now; the calls that are under way are stopped.

        The first interruption counts. Call it from the host's event loop. It returns at once; a layer that stands
        around a call raises the error too, so that the call does not go on.
        """
        self.interruption.interrupt(error)

    def for_layer(self, *, may_interrupt: bool = True) -> "RunContext":
        """The same run with a state of its own; one that may not end it has an interruption that does nothing."""
        interruption = self.interruption if may_interrupt else Interruption()
        return replace(self, interruption=interruption, _state=[])

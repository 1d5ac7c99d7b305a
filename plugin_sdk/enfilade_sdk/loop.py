"""The loop of the built-in strategies: ask the model, run what it asks for, until it answers or no round is left."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from enfilade_sdk.errors import AgentMaxIterationError, ModelFailedError
from enfilade_sdk.messages import ToolInvokeMessage, finish_log, text_message
from enfilade_sdk.prompts import AssistantMessage, ModelResult
from enfilade_sdk.rounds import Round, limit_reached, round_log, rounds_of
from enfilade_sdk.session import Session

Messages = AsyncGenerator[ToolInvokeMessage, None]


class Loop(ABC):
    """One run. What differs between strategies is how the model is asked, and what is read out of its reply.

    Args:
        params: The strategy's parameters, those of `enfilade_sdk.loop_parameters` among them.
        session: The run.

    Attributes:
        params: The parameters.
        session: The run.
        result: The model's last reply; `ask` sets it.
    """

    def __init__(self, params: Mapping[str, Any], session: Session) -> None:
        self.params = params
        self.session = session
        self.result = ModelResult(AssistantMessage())
        self._asked_again = False

    # ------------------------------------------------------------ what a strategy says

    @abstractmethod
    def ask(self, round_: Round, log: ToolInvokeMessage) -> Messages:
        """Asks the model, gives out what it says, and sets `result`; `log` is the round's."""

    @abstractmethod
    def act(self, log: ToolInvokeMessage) -> Messages:
        """Runs what the reply asks for, and notes it down for the next round."""

    @abstractmethod
    def say_it_was_empty(self) -> None:
        """Notes down, for the model, that its reply was empty: it is asked once more in a run."""

    @property
    @abstractmethod
    def goes_on(self) -> bool:
        """Whether the reply asks for something; else it is the answer."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether there is nothing in the reply to go on with, nor to end with."""

    @property
    def is_lost(self) -> bool:
        """Whether a reply that was asked for twice is of no use."""
        return self.is_empty

    @property
    def has_spoken(self) -> bool:
        """Whether the last reply has given out text as answer."""
        return bool(self.result.message.content)

    def rest(self) -> Sequence[ToolInvokeMessage]:
        """What is to be given out of an answer, or of what there is of one, that was not given out as it came."""
        return ()

    def limit(self, round_: Round) -> AgentMaxIterationError:
        """The error of a run that still goes on in its last round."""
        return limit_reached(round_.number - 1)

    # ------------------------------------------------------------ the loop

    async def messages(self) -> Messages:
        """Runs it.

        Raises:
            AgentMaxIterationError: The model still asks for something in the last round, and `on_limit` is `raise`.
            ModelFailedError: The model failed, or its reply was empty twice.
        """
        for round_ in rounds_of(self.params["max_iteration"]):
            log = round_log(round_)
            yield log
            async for message in self._think(round_, log):
                yield message
            if not self.goes_on:
                for message in self.rest():
                    yield message
                yield finish_log(log)
                return
            if round_.last:
                yield finish_log(log, error=self.limit(round_).message)
                for message in self._stop_at_limit(round_):
                    yield message
                return
            async for message in self.act(log):
                yield message
            yield finish_log(log)

    async def _think(self, round_: Round, log: ToolInvokeMessage) -> Messages:
        """Asks the model; a reply without anything in it is asked for once more in the whole run."""
        async for message in self.ask(round_, log):
            yield message
        if self.is_empty and not self._asked_again:
            self._asked_again = True
            self.say_it_was_empty()
            async for message in self.ask(round_, log):
                yield message
        if self.is_lost:
            raise self._empty_error()

    def _stop_at_limit(self, round_: Round) -> list[ToolInvokeMessage]:
        if self.params["on_limit"] == "raise":
            raise self.limit(round_)
        messages = list(self.rest())
        if self.params["on_limit"] == "answer":
            lead = "\n\n" if messages or self.has_spoken else ""
            text = f"{lead}The limit of {round_.number - 1} rounds with tools was reached before the work was done."
            messages.append(text_message(text, meta={"round": round_.number}))
        return messages

    def _empty_error(self) -> ModelFailedError:
        message = self.result.message
        what = "it only reasoned" if message.reasoning else "there was no text and no tool call"
        return ModelFailedError(
            f"the model's reply was empty ({what}): expected an answer or a tool call; it was asked once more in vain "
            f"(finish reason {self.result.finish_reason!r})",
            details={"finish_reason": self.result.finish_reason},
        )

"""Earlier turns of a conversation for a question that names one, from the records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from enfilade.briefing import Question
from enfilade.config import MemorySettings
from enfilade.store.conversation import Conversation, Window, estimated_tokens
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import PromptMessage, UserMessage

SHARE = 2
"""A half of the model's context window is left to the instruction, the question, its rounds and the answer."""


class EarlierTurns(Protocol):
    """Where earlier turns are read."""

    async def conversation(self, conversation_id: str, *, user_id: str, window: Window) -> Conversation:
        """The newest turns of a user's conversation that fit."""
        ...

    async def remembers(self) -> bool:
        """Whether there can be any."""
        ...


@dataclass(frozen=True, slots=True)
class Memory:
    """Gives questions the history that they do not bring themselves.

    Attributes:
        turns: Where the turns are; None remembers nothing.
        settings: How much of a conversation is wanted.
    """

    turns: EarlierTurns | None
    settings: MemorySettings

    async def works(self) -> bool:
        """Whether questions get earlier turns here.

        Raises:
            StoreError: The store cannot be opened.
        """
        return self.turns is not None and await self.turns.remembers()

    async def recalled(self, question: Question, model: ModelInfo) -> Question:
        """The question with the earlier turns of its conversation and user, unless it brings a history of its own.

        Args:
            question: The question.
            model: The model that is to be asked; its context window bounds the turns where the settings do not.

        Raises:
            StoreError: The records cannot be read now.
        """
        if self.turns is None or question.conversation_id is None or question.history:
            return question
        found = await self.turns.conversation(
            question.conversation_id, user_id=question.user_id, window=self._window(model)
        )
        return replace(question, history=found.messages)

    def fitting(self, history: Sequence[PromptMessage], model: ModelInfo) -> tuple[PromptMessage, ...]:
        """The newest whole turns of a history that fit, as those of the records would have to.

        Args:
            history: The turns, oldest first; each begins with what the user said.
            model: The model that is to be asked.
        """
        window, kept, tokens = self._window(model), len(history), 0
        for messages, place in enumerate(range(len(history) - 1, -1, -1), start=1):
            tokens += estimated_tokens([history[place]])
            if not window.holds(messages, tokens):
                break
            if isinstance(history[place], UserMessage):
                kept = place
        return tuple(history[kept:])

    def _window(self, model: ModelInfo) -> Window:
        settings = self.settings
        if settings.messages is None and settings.tokens is None and model.context_window:
            return Window(tokens=model.context_window // SHARE)
        return Window(settings.messages, settings.tokens)

"""What a run said to its model and back, as messages. The recorder and the rebuilder count with the same functions.

A round's record holds of its prompt only what cannot be told from the round before it: `kept`, how many messages of
what that round left it begins with, and `added`, the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from enfilade_sdk.prompts import (
    AssistantMessage,
    ContentPart,
    PromptMessage,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)


@dataclass(frozen=True, slots=True)
class Answered:
    """How a tool call ended, as the strategy was told."""

    text: str
    is_error: bool = False


@dataclass(slots=True)
class Exchange:
    """One model call: its prompt without what stood before the question, its reply, the results of its calls by id."""

    prompt: list[PromptMessage]
    reply: AssistantMessage | None = None
    results: dict[str, Answered] = field(default_factory=dict)

    def left(self) -> list[PromptMessage]:
        """What the prompt of the next round begins with, as far as it is known: up to the first open call."""
        if self.reply is None:
            return self.prompt
        left = [*self.prompt, self.reply]
        for call in self.reply.tool_calls:
            result = tool_message(call, self.results)
            if result is None:
                break
            left.append(result)
        return left


def tool_message(call: ToolCall, results: Mapping[str, Answered]) -> ToolMessage | None:
    """The result of a call as the model is told; None when there is none. Unreadable arguments are a result too."""
    result = results.get(call.id)
    if result is not None:
        return ToolMessage(tool_call_id=call.id, content=result.text, name=call.name, is_error=result.is_error)
    if call.error is not None:
        return ToolMessage(tool_call_id=call.id, content=call.error, name=call.name, is_error=True)
    return None


def since_question(
    prompt: Sequence[PromptMessage], question: str, history: Sequence[PromptMessage] = ()
) -> list[PromptMessage] | None:
    """The part of a prompt that belongs to this run: from the question on, without reasoning and instruction.

    What a strategy adds to the question's text counts as part of it when it stands in lines of its own below.

    Args:
        prompt: The prompt.
        question: The run's question.
        history: The earlier turns that the run was given; it may have left out the oldest.

    Returns:
        The messages; None when the prompt has no message that carries the question, such as a summariser's.
    """
    said = [message for message in prompt if not isinstance(message, SystemMessage)]
    for place in range(len(said) - 1, _behind(history, said) - 1, -1):
        message = said[place]
        if isinstance(message, UserMessage) and _carries(message, question):
            return [plain(m) for m in said[place:]]
    return None


def plain(message: PromptMessage) -> PromptMessage:
    """The message without reasoning, which later turns do not get."""
    if isinstance(message, AssistantMessage) and message.reasoning is not None:
        return message.model_copy(update={"reasoning": None})
    return message


def common(left: Sequence[PromptMessage], right: Sequence[PromptMessage]) -> int:
    """How many messages the two begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


def _behind(history: Sequence[PromptMessage], said: Sequence[PromptMessage]) -> int:
    """The place behind the earlier turns that the messages begin with; the oldest may have been left out."""
    newest = (len(history) - start for start in range(len(history)))
    return next((kept for kept in newest if list(said[:kept]) == list(history[-kept:])), 0)


def _carries(message: UserMessage, question: str) -> bool:
    text = _text_of(message.content)
    for asked in (question, question.strip()):
        rest = text[len(asked) :].lstrip(" \t")
        if text.startswith(asked) and (not rest or rest.startswith("\n")):
            return True
    return False


def _text_of(content: str | Sequence[ContentPart]) -> str:
    if isinstance(content, str):
        return content
    return next((part.text for part in content if isinstance(part, TextPart)), "")

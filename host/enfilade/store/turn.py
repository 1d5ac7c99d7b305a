"""Closes one turn of a conversation, so that every provider takes it as the beginning of the next prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from enfilade.store.dialogue import Answered, Exchange, tool_message
from enfilade.store.state import State
from enfilade_sdk.prompts import (
    AssistantMessage,
    ContentPart,
    PromptMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

_WHY = {
    State.FAILED: "the run failed",
    State.CANCELLED: "the run was cancelled",
    State.INTERRUPTED: "the host stopped in the middle of the run",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended.

    Attributes:
        state: Its state.
        answer: Its answer, or as much of it as there was.
        code: The error's code; empty without one.
        own_words: Whether the answer came from another prompt than the turn's last one.
    """

    state: State
    answer: str = ""
    code: str = ""
    own_words: bool = False

    @property
    def words(self) -> str:
        """The answer; nothing when it is blank."""
        return self.answer if self.answer.strip() else ""

    @property
    def why(self) -> str:
        """Why something is missing, in words."""
        reason = _WHY.get(self.state, "the run ended")
        return f"{reason} ({self.code})" if self.code and self.state is State.FAILED else reason


def turn_of(exchange: Exchange, ending: Ending) -> list[PromptMessage]:
    """The turn's messages: from the user's question to an assistant message without calls, each call with a result."""
    messages = _merged(_with_results(_without_idle_calls(exchange, ending), exchange.results, ending))
    last = messages[-1] if messages else None
    if isinstance(last, AssistantMessage) and not last.tool_calls:
        if ending.state is not State.SUCCEEDED:
            return [*messages[:-1], _cut_off(last, ending)]
        if not (ending.own_words and ending.words):
            return messages
        messages.pop()
    return [*messages, AssistantMessage(content=_closing(ending, messages))]


def _without_idle_calls(exchange: Exchange, ending: Ending) -> list[PromptMessage]:
    """Prompt and reply. Calls that a run asked for in its last reply, and then ended well without, are left out."""
    reply = exchange.reply
    if reply is None:
        return list(exchange.prompt)
    idle = not any(tool_message(call, exchange.results) for call in reply.tool_calls)
    if reply.tool_calls and idle and ending.state is State.SUCCEEDED:
        return [*exchange.prompt, AssistantMessage(content=ending.words or reply.content)]
    return [*exchange.prompt, reply]


def _with_results(
    messages: Sequence[PromptMessage], results: Mapping[str, Answered], ending: Ending
) -> list[PromptMessage]:
    """Exactly one result behind each call, in call order; results that belong to no call are left out."""
    found: list[PromptMessage] = []
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage) or _is_empty(message):
            continue
        found.append(message)
        if isinstance(message, AssistantMessage) and message.tool_calls:
            said = _block(messages, place + 1)
            last = {} if place + 1 < len(messages) else results
            calls = message.tool_calls
            found += [said.get(call.id) or tool_message(call, last) or _no_result(call, ending) for call in calls]
    return found


def _block(messages: Sequence[PromptMessage], start: int) -> dict[str, ToolMessage]:
    block: dict[str, ToolMessage] = {}
    for message in messages[start:]:
        if not isinstance(message, ToolMessage):
            break
        block.setdefault(message.tool_call_id, message)
    return block


def _is_empty(message: PromptMessage) -> bool:
    return isinstance(message, AssistantMessage) and not message.tool_calls and not (message.content or "").strip()


def _no_result(call: ToolCall, ending: Ending) -> ToolMessage:
    text = f"There is no result: {ending.why} before this call ended."
    return ToolMessage(tool_call_id=call.id, content=text, name=call.name, is_error=True)


def _merged(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """One message where several of one speaker follow each other, which some providers refuse."""
    merged: list[PromptMessage] = []
    for message in messages:
        before = merged[-1] if merged else None
        if isinstance(before, UserMessage) and isinstance(message, UserMessage):
            merged[-1] = UserMessage(content=_joined(before.content, message.content))
        elif isinstance(before, AssistantMessage) and isinstance(message, AssistantMessage):
            text = (before.content or "") + (message.content or "")
            merged[-1] = AssistantMessage(content=text or None, tool_calls=message.tool_calls)
        else:
            merged.append(message)
    return merged


def _joined(first: str | list[ContentPart], second: str | list[ContentPart]) -> str | list[ContentPart]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: str | list[ContentPart]) -> list[ContentPart]:
    return [TextPart(text=content)] if isinstance(content, str) else content


def _cut_off(last: AssistantMessage, ending: Ending) -> AssistantMessage:
    return AssistantMessage(content=f"{last.content}\n\n[Cut off: {ending.why}.]")


def _closing(ending: Ending, messages: Sequence[PromptMessage]) -> str:
    said = any(isinstance(m, AssistantMessage) and ending.words in (m.content or "") for m in messages)
    answer = "" if said else ending.words
    if ending.state is State.SUCCEEDED:
        return answer or "[The run ended without a further answer.]"
    return f"{answer}\n\n[Cut off: {ending.why}.]" if answer else f"[No answer: {ending.why}.]"

"""What the strictest providers demand of a prompt's beginning."""

from collections.abc import Sequence

from enfilade_sdk.prompts import AssistantMessage, PromptMessage, SystemMessage, ToolMessage, UserMessage


def faults_of(messages: Sequence[PromptMessage]) -> list[str]:
    """Everything that some provider would refuse, if a user's message followed."""
    faults = [f"{place}: a system message" for place, m in enumerate(messages) if isinstance(m, SystemMessage)]
    faults += [
        f"{place}: reasoning" for place, m in enumerate(messages) if isinstance(m, AssistantMessage) and m.reasoning
    ]
    expected = "user"
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        faults += _faults_at(place, message, expected, open_calls)
        if isinstance(message, AssistantMessage):
            open_calls = [call.id for call in message.tool_calls]
        elif isinstance(message, ToolMessage) and open_calls:
            open_calls = open_calls[1:]
        expected = "tool" if open_calls else "user" if isinstance(message, AssistantMessage) else "assistant"
    return faults + ([] if expected == "user" else [f"the end: {expected} is due"])


def _faults_at(place: int, message: PromptMessage, expected: str, open_calls: list[str]) -> list[str]:
    if message.role != expected:
        return [f"{place}: {message.role} where {expected} is due"]
    if isinstance(message, ToolMessage) and message.tool_call_id != open_calls[0]:
        return [f"{place}: the result of {message.tool_call_id} where that of {open_calls[0]} is due"]
    if isinstance(message, AssistantMessage) and not message.tool_calls and not (message.content or "").strip():
        return [f"{place}: an empty assistant message"]
    if isinstance(message, UserMessage) and not message.content:
        return [f"{place}: an empty user message"]
    return []

"""What the strictest providers demand of a prompt's beginning."""

from collections.abc import Sequence

from enfilade_sdk.prompts import AssistantMessage, PromptMessage, SystemMessage, ToolMessage, UserMessage

DUE = {"user": ("assistant",), "assistant": ("user",), "tool": ("assistant", "user"), "system": ("user",)}
"""Who may speak behind whom, when no call is open; a run's own reminder may stand behind a tool's result."""


def faults_of(messages: Sequence[PromptMessage]) -> list[str]:
    """Everything that some provider would refuse, if a user's message followed."""
    faults = [f"{place}: a system message" for place, m in enumerate(messages) if isinstance(m, SystemMessage)]
    faults += [
        f"{place}: reasoning" for place, m in enumerate(messages) if isinstance(m, AssistantMessage) and m.reasoning
    ]
    due: tuple[str, ...] = ("user",)
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        faults += _faults_at(place, message, due, open_calls)
        if isinstance(message, AssistantMessage):
            open_calls = [call.id for call in message.tool_calls]
        elif isinstance(message, ToolMessage) and open_calls:
            open_calls = open_calls[1:]
        due = ("tool",) if open_calls else DUE[message.role]
    ends_well = not messages or (isinstance(messages[-1], AssistantMessage) and not open_calls)
    return faults + ([] if ends_well else ["the end: no assistant message without calls"])


def _faults_at(place: int, message: PromptMessage, due: tuple[str, ...], open_calls: list[str]) -> list[str]:
    if message.role not in due:
        return [f"{place}: {message.role} where {' or '.join(due)} is due"]
    if isinstance(message, ToolMessage) and message.tool_call_id != open_calls[0]:
        return [f"{place}: the result of {message.tool_call_id} where that of {open_calls[0]} is due"]
    if isinstance(message, AssistantMessage) and not message.tool_calls and not (message.content or "").strip():
        return [f"{place}: an empty assistant message"]
    if isinstance(message, UserMessage) and not message.content:
        return [f"{place}: an empty user message"]
    return []

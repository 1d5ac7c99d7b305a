"""What the model is told of a tool's messages."""

from collections.abc import Iterable

from enfilade_sdk.json_text import json_text
from enfilade_sdk.messages import JsonPayload, MessageType, TextPayload, ToolInvokeMessage

_GIVEN = "[{} was given to the user]"


def result_text(messages: Iterable[ToolInvokeMessage]) -> str:
    """Text verbatim, JSON as compact JSON, a link as such, files as a note, variables and logs not at all."""
    return "\n".join(text for message in messages if (text := _text(message)) is not None)


def _text(message: ToolInvokeMessage) -> str | None:
    payload = message.message
    if isinstance(payload, JsonPayload):
        return None if payload.suppress_output else json_text(payload.json_object)
    match message.type:
        case MessageType.TEXT if isinstance(payload, TextPayload):
            return payload.text
        case MessageType.LINK if isinstance(payload, TextPayload):
            return f"result link: {payload.text}"
        case MessageType.IMAGE | MessageType.IMAGE_LINK:
            return _GIVEN.format("an image")
        case MessageType.BLOB | MessageType.BINARY_LINK | MessageType.FILE:
            return _GIVEN.format("a file")
        case MessageType.RETRIEVER_RESOURCES:
            return getattr(payload, "context", "")
        case _:
            return None

"""What a message weighs, and the same message without what no wire can carry."""

from dataclasses import dataclass
from typing import Any

import orjson

from enfilade.tools.json_value import NotJsonError, clean_text, compact_json, json_copy
from enfilade_sdk.errors import ToolFailedError
from enfilade_sdk.messages import (
    BlobChunkPayload,
    BlobPayload,
    FilePayload,
    JsonPayload,
    TextPayload,
    ToolInvokeMessage,
    VariablePayload,
)

_ONLY_JSON = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


@dataclass(frozen=True, slots=True)
class Weighed:
    """A message fit for sending.

    Attributes:
        message: The message; lone surrogates are gone from it and its values are JSON.
        size: Bytes of its payload and meta.
        json: Compact JSON of a JSON payload; empty for others.
    """

    message: ToolInvokeMessage
    size: int
    json: str = ""


def weigh(message: ToolInvokeMessage) -> Weighed:
    """Weighs a message as a tool gave it.

    Raises:
        ToolFailedError: It holds a value that is not JSON.
    """
    try:
        meta, of_meta = _json(message.meta) if message.meta else (message.meta, "")
        if meta is not message.meta:
            message = ToolInvokeMessage(message.type, message.message, meta)
        return _with_payload(message, len(of_meta))
    except NotJsonError as error:
        raise ToolFailedError(f"the tool gave a {message.type.value} message that is not JSON: {error}") from None


def _with_payload(message: ToolInvokeMessage, of_meta: int) -> Weighed:
    payload = message.message
    if isinstance(payload, BlobPayload | BlobChunkPayload):
        return Weighed(message, len(payload.blob) + of_meta)
    if isinstance(payload, FilePayload):
        return Weighed(message, of_meta)
    if isinstance(payload, TextPayload):
        text = clean_text(payload.text)
        if text is not payload.text:
            message = ToolInvokeMessage(message.type, payload.model_copy(update={"text": text}), message.meta)
        return Weighed(message, _size(text) + of_meta)
    if isinstance(payload, JsonPayload):
        value, json = _json(payload.json_object)
        if value is not payload.json_object:
            message = ToolInvokeMessage(message.type, payload.model_copy(update={"json_object": value}), message.meta)
        return Weighed(message, _size(json) + of_meta, json)
    if isinstance(payload, VariablePayload):
        value, json = _json(payload.variable_value)
        if value is not payload.variable_value:
            message = ToolInvokeMessage(
                message.type, payload.model_copy(update={"variable_value": value}), message.meta
            )
        return Weighed(message, _size(json) + of_meta)
    value, json = _json(payload.model_dump(mode="python"))
    return Weighed(message, _size(json) + of_meta)


def _json(value: Any) -> tuple[Any, str]:
    """The value, or a copy of it that is JSON, and its compact text."""
    try:
        return value, orjson.dumps(value, option=_ONLY_JSON).decode()
    except (orjson.JSONEncodeError, RecursionError):
        copy = json_copy(value, infinite="null")
        return copy, compact_json(copy)


def _size(json: str) -> int:
    return len(json) if json.isascii() else len(json.encode())

"""What a Python function gave back, as messages."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from enfilade.tools.json_value import clean_text, compact_json, json_copy
from enfilade_sdk.errors import ToolFailedError
from enfilade_sdk.messages import (
    MessageError,
    MessageType,
    ToolInvokeMessage,
    blob_message,
    json_message,
    message_of,
    text_message,
)

_KINDS = frozenset(kind.value for kind in MessageType)
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
)


def messages_of(value: object) -> Iterator[ToolInvokeMessage]:
    """The messages behind a returned or yielded value.

    A message stays itself; a text, a number, true or false is a text; a dict, a list, a pydantic model or a dataclass
    is JSON; bytes are a text where they are UTF-8 and a file where they are not; None is nothing.

    Raises:
        ToolFailedError: The value has no such form.
    """
    if value is None:
        return
    if isinstance(value, ToolInvokeMessage):
        yield value
    elif isinstance(value, str):
        yield text_message(clean_text(value))
    elif isinstance(value, bytes | bytearray | memoryview):
        yield _of_bytes(bytes(value))
    elif isinstance(value, list | tuple) and value and all(isinstance(part, ToolInvokeMessage) for part in value):
        yield from value
    elif _is_message(value):
        yield _message(value)
    else:
        yield _of_json(value)


def _is_message(value: object) -> bool:
    if isinstance(value, Mapping):
        whole = value.keys() <= {"type", "message", "meta"} and isinstance(value.get("message"), Mapping)
        return whole and _is_kind(value.get("type"))
    return hasattr(value, "type") and hasattr(value, "message") and _is_kind(getattr(value.type, "value", value.type))


def _is_kind(kind: object) -> bool:
    return isinstance(kind, str) and kind in _KINDS


def _message(value: object) -> ToolInvokeMessage:
    try:
        return message_of(value)
    except MessageError as error:
        if isinstance(value, Mapping):
            return _of_json(value)  # it only looked like a message
        raise ToolFailedError(f"what the tool gave back is no message: {error.message}") from None


def _of_bytes(value: bytes) -> ToolInvokeMessage:
    try:
        return text_message(value.decode())
    except UnicodeDecodeError:
        return blob_message(value, mime_type=mime_type_of(value))


def mime_type_of(value: bytes) -> str:
    """The type that a file's first bytes speak for; `application/octet-stream` where they speak for none."""
    if value[:4] == b"RIFF" and value[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for start, mime in _SIGNATURES if value.startswith(start)), "application/octet-stream")


def _of_json(value: object) -> ToolInvokeMessage:
    if isinstance(value, float):
        return text_message(repr(value))
    plain = _plain(list(value) if isinstance(value, Collection) and not isinstance(value, Mapping) else value)
    if isinstance(plain, dict | list):
        return json_message(_clean(plain))
    return text_message(clean_text(plain) if isinstance(plain, str) else compact_json(plain))


def _plain(value: object) -> Any:
    faults: list[str] = []
    attempts: list[Callable[[], Any]] = [
        lambda: to_jsonable_python(value, bytes_mode="utf8", inf_nan_mode="null", serialize_unknown=True),
        lambda: to_jsonable_python(value, bytes_mode="base64", inf_nan_mode="null", serialize_unknown=True),
        lambda: json_copy(value, infinite="null"),
    ]
    for attempt in attempts:  # bytes that are not UTF-8 need the second, texts that are not the third
        try:
            return attempt()
        except (ValueError, RecursionError) as error:
            faults.append(str(error))
    raise ToolFailedError(f"the tool gave back a {type(value).__name__} that cannot be written as JSON: {faults[0]}")


def _clean(value: Any) -> Any:
    """The value without lone surrogates; the same object where there are none."""
    try:
        compact_json(value).encode()
    except UnicodeEncodeError:
        return _cleaned(value)
    return value


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {clean_text(k): _cleaned(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    return clean_text(value) if isinstance(value, str) else value

"""What a server's tool gave, as messages."""

import base64
import binascii
import json
import mimetypes
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from enfilade.tools.fault import ReportedError
from enfilade.tools.json_value import clean_text, compact_json
from enfilade.tools.mcp.message import JsonObject
from enfilade.tools.output import mime_type_of
from enfilade_sdk.messages import (
    MessageType,
    TextPayload,
    ToolInvokeMessage,
    blob_message,
    json_message,
    text_message,
    url_message,
)


def messages_of_result(result: JsonObject) -> Iterator[ToolInvokeMessage]:
    """The messages of a `tools/call` result.

    Texts, and embedded resources that are texts, are for the model. Images, audio and other embedded resources are
    files for the user; links to resources are links. Structured content is JSON, kept from the model where a text
    says the same. A part of an unknown kind is passed on as JSON.

    Raises:
        ReportedError: The result says that the call failed; the text is the server's.
    """
    if result.get("isError") is True:
        raise ReportedError(_error_text(result))
    if result.get("resultType") == "input_required":
        raise ReportedError("it asks for input from the user while it runs, which it is not given here")
    parts = _parts(result.get("content"))
    texts = [text for part in parts if (text := _text_of(part)) is not None]
    yield from _in_lines(message for part in parts for message in _messages_of(part))
    if (structured := result.get("structuredContent")) is not None:
        yield from _structured(structured, texts)


def _in_lines(messages: Iterator[ToolInvokeMessage]) -> Iterator[ToolInvokeMessage]:
    """The messages, with a line's end between texts that follow each other."""
    after_text = False
    for message in messages:
        if isinstance(message.message, TextPayload) and message.type is MessageType.TEXT:
            yield text_message(f"\n{message.message.text}") if after_text else message
            after_text = True
        else:
            yield message
            after_text = False


def _parts(content: object) -> list[Any]:
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


def _messages_of(part: Any) -> Iterator[ToolInvokeMessage]:
    if (text := _text_of(part)) is not None:
        yield text_message(text)
        return
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("image", "audio"):
        yield _file(part.get("data"), part.get("mimeType"), "")
    elif kind == "resource" and isinstance(resource := part.get("resource"), dict) and "blob" in resource:
        uri = resource.get("uri")
        yield _file(resource["blob"], resource.get("mimeType"), uri if isinstance(uri, str) else "")
    elif kind == "resource_link" and isinstance(part.get("uri"), str):
        yield from _link(part)
    elif isinstance(part, dict | list):
        yield json_message(part)
    elif part is not None:
        yield text_message(compact_json(part))


def _text_of(part: Any) -> str | None:
    """The text that a part is; None for what is none."""
    if isinstance(part, str):
        return clean_text(part)
    if not isinstance(part, dict):
        return None
    holder = part.get("resource") if part.get("type") == "resource" else part
    is_text = part.get("type") in ("text", "resource", None)
    text = holder.get("text") if isinstance(holder, dict) and is_text else None
    return clean_text(text) if isinstance(text, str) else None


def _file(data: object, mime_type: object, uri: str) -> ToolInvokeMessage:
    given = clean_text(mime_type) if isinstance(mime_type, str) else ""
    try:
        blob = base64.b64decode(data) if isinstance(data, str) else b""
    except (binascii.Error, ValueError):
        blob = b""
    if not blob:
        return text_message(f"[a file{f' of type {given[:100]}' if given else ''} whose data cannot be read]")
    kind = given or mimetypes.guess_type(uri.rpartition("/")[2])[0] or mime_type_of(blob)
    return blob_message(blob, mime_type=kind, filename=_file_name(uri))


def _file_name(uri: str) -> str | None:
    try:
        path = urlsplit(uri).path
    except ValueError:
        return None
    return clean_text(unquote(path.rstrip("/").rpartition("/")[2])) or None


def _link(part: JsonObject) -> Iterator[ToolInvokeMessage]:
    named = (part.get("title") or part.get("name"), part.get("description"))
    words = [clean_text(word) for word in named if isinstance(word, str) and word]
    if words:
        yield text_message(": ".join(words))
    mime_type = part.get("mimeType")
    meta = {"mime_type": clean_text(mime_type)} if isinstance(mime_type, str) and mime_type else None
    yield url_message(clean_text(part["uri"]), meta=meta)


def _structured(value: Any, texts: list[str]) -> Iterator[ToolInvokeMessage]:
    said = any(_says(text, value) for text in texts)
    if isinstance(value, dict | list):
        yield json_message(value, suppress_output=said)
    elif not said:
        yield text_message(compact_json(value))


def _says(text: str, value: Any) -> bool:
    """Whether a text is the value; many servers wrap what they say in words, as in `{"result": "..."}`."""
    wrapped = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value
    try:
        return text == wrapped or json.loads(text) in (value, wrapped)
    except (ValueError, RecursionError):
        return False


def _error_text(result: JsonObject) -> str:
    texts = [text for part in _parts(result.get("content")) if (text := _text_of(part)) is not None]
    if not texts and (structured := result.get("structuredContent")) is not None:
        texts = [compact_json(structured)]
    return "\n".join(texts).strip() or "it says no more than that it failed"

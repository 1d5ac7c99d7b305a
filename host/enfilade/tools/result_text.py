"""The text of a tool's result, as the model is given it."""

from collections.abc import Mapping
from typing import Any

from enfilade.tools.weight import Weighed
from enfilade_sdk.messages import (
    BlobChunkPayload,
    BlobPayload,
    JsonPayload,
    MessageType,
    RetrieverResourcesPayload,
    TextPayload,
    ToolInvokeMessage,
)

NOTHING = "the tool ran and gave no text"
"""What a model is told of a result without any, so that it does not take the call for failed."""

_MOST_URL = 500
_PICTURES = (MessageType.IMAGE, MessageType.IMAGE_LINK)


class ResultText:
    """Gathers the text while messages pass; keeps no more than the limit of it.

    Texts stand as they are, one after the other; JSON is compact; a link is `result link: ...`; of an image or file
    there is a note that the user has been given it; of variables and logs there is nothing.

    Args:
        limit: Bytes of text to keep.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[str] = []
        self._kept_size = 0
        self._size = 0
        self._after_text = True
        self._files: set[str] = set()

    def take(self, weighed: Weighed) -> None:
        """Adds what the message is to the model."""
        message = weighed.message
        text = self._of(weighed)
        if not text:
            return
        is_text = message.type is MessageType.TEXT
        if self._size and not (is_text and self._after_text):
            text = f"\n{text}"
        self._after_text = is_text
        self._keep(text)

    @property
    def text(self) -> str:
        """All of it, or its beginning and a note of what was cut; empty where there was nothing."""
        kept = "".join(self._kept)
        if self._size == self._kept_size:
            return kept
        return (
            f"{kept}\n[cut: the result has {self._size:,} bytes, of which the first {self._kept_size:,} are shown; "
            "ask for less, or for a part of it, to see the rest]"
        )

    def _keep(self, text: str) -> None:
        was_whole = self._size == self._kept_size
        size = len(text) if text.isascii() else len(text.encode())
        self._size += size
        if not was_whole:
            return
        room = self._limit - self._kept_size
        if size > room:
            text = text[:room].encode()[:room].decode(errors="ignore")
            size = len(text.encode())
        self._kept.append(text)
        self._kept_size += size

    def _of(self, weighed: Weighed) -> str:
        message, payload = weighed.message, weighed.message.message
        if isinstance(payload, TextPayload):
            return _of_text(message.type, payload.text, message.meta or {})
        if isinstance(payload, JsonPayload):
            return "" if payload.suppress_output else weighed.json
        if isinstance(payload, BlobPayload):
            return _given(message.meta or {}, len(payload.blob))
        if isinstance(payload, BlobChunkPayload):
            return self._of_part(payload, message)
        if isinstance(payload, RetrieverResourcesPayload):
            return payload.context
        return _of_file(message) if message.type is MessageType.FILE else ""

    def _of_part(self, payload: BlobChunkPayload, message: ToolInvokeMessage) -> str:
        if payload.id in self._files:
            return ""
        self._files.add(payload.id)
        return _given(message.meta or {}, payload.total_length)


def _of_text(kind: MessageType, text: str, meta: Mapping[str, Any]) -> str:
    if kind is MessageType.TEXT:
        return text
    if kind is MessageType.LINK:
        return f"result link: {text}"
    what = "an image" if kind in _PICTURES else "a file"
    name = meta.get("filename") or (text if text.startswith(("http://", "https://")) and len(text) <= _MOST_URL else "")
    return f"{what} has been given to the user{f': {name}' if name else ''}"


def _of_file(message: ToolInvokeMessage) -> str:
    file = (message.meta or {}).get("file")
    return _given(file if isinstance(file, Mapping) else {}, None)


def _given(meta: Mapping[str, Any], size: int | None) -> str:
    mime = str(meta.get("mime_type") or "")
    facts = [str(meta.get("filename") or ""), mime, "" if size is None else f"{size:,} bytes"]
    what = "an image" if mime.startswith("image/") else "a file"
    known = ", ".join(filter(None, facts))
    return f"{what}{f' ({known})' if known else ''} has been given to the user"

"""Splits a file that is too large for one message."""

from collections.abc import Iterator
from uuid import uuid4

from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, MessageType, ToolInvokeMessage

PART = 1024 * 1024
"""Bytes in one part of a file."""


def in_parts(message: ToolInvokeMessage, part: int = PART) -> Iterator[ToolInvokeMessage]:
    """The blob as `blob_chunk` messages, each with the meta of the whole."""
    payload = message.message
    assert isinstance(payload, BlobPayload)
    identity, blob = uuid4().hex, payload.blob
    for sequence, start in enumerate(range(0, len(blob), part)):
        chunk = BlobChunkPayload(
            id=identity,
            sequence=sequence,
            total_length=len(blob),
            blob=blob[start : start + part],
            end=start + part >= len(blob),
        )
        yield ToolInvokeMessage(type=MessageType.BLOB_CHUNK, message=chunk, meta=message.meta)

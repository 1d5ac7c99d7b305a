"""Blobs too large for one item leave in parts, from a plugin's process and from a plugin in the host's own alike."""

from collections.abc import Iterator
from uuid import uuid4

from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, MessageType, ToolInvokeMessage

BLOB_PART = 1024 * 1024
"""Bytes of a blob that leave in one item when it is split."""


def is_whole(message: ToolInvokeMessage) -> bool:
    """Whether a message can leave as it is, with regard to blobs."""
    payload = message.message
    return type(payload) is not BlobPayload or len(payload.blob) <= BLOB_PART


def parts_of(message: ToolInvokeMessage) -> Iterator[ToolInvokeMessage]:
    """The message itself, or the parts of its blob in order; the first part has its meta."""
    payload = message.message
    if type(payload) is not BlobPayload or len(payload.blob) <= BLOB_PART:
        yield message
        return
    blob, name = payload.blob, uuid4().hex
    for number, at in enumerate(range(0, len(blob), BLOB_PART)):
        part = BlobChunkPayload(
            id=name,
            sequence=number,
            total_length=len(blob),
            blob=blob[at : at + BLOB_PART],
            end=at + BLOB_PART >= len(blob),
        )
        yield ToolInvokeMessage(MessageType.BLOB_CHUNK, part, message.meta if number == 0 else None)

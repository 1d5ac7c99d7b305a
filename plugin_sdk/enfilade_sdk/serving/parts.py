"""What is too large for one item: blobs leave in parts, anything else is refused.

The same holds for a plugin's process and for a plugin in the host's own.
"""

from collections.abc import Iterator
from uuid import uuid4

from enfilade_sdk.errors import LimitExceededError
from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, MessageType, ToolInvokeMessage

MAX_ITEM_BYTES = 8 * 1024 * 1024
"""Bytes of one item, both ways, where a host sets no other limit; a frame may hold twice that."""

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


def check_size(message: ToolInvokeMessage, size: int, limit: int) -> None:
    """Refuses a message over the limit for one item; a limit of 0 is none.

    Raises:
        LimitExceededError: With both numbers.
    """
    if limit and size > limit:
        raise LimitExceededError(
            f"a {message.type.value} message of {size} bytes is over the limit of {limit} bytes for one item; "
            "send it in parts, or as a blob, which is split on the way"
        )

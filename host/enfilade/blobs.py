"""Joins blobs that come in parts, and believes nothing that the parts say of themselves."""

from dataclasses import dataclass, field
from typing import Any

from enfilade_sdk.errors import LimitExceededError, ProtocolError
from enfilade_sdk.messages import BlobChunkPayload


@dataclass(slots=True)
class _Parts:
    total: int
    meta: dict[str, Any]
    next: int = 0
    data: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True, slots=True)
class Joined:
    """A whole blob and the meta of its first part."""

    data: bytes
    meta: dict[str, Any]


OPEN_BLOBS = 64
"""Blobs that one run may have in parts at once."""


class BlobJoiner:
    """Keeps the parts of open blobs by id."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, _Parts] = {}

    def add(self, part: BlobChunkPayload, meta: dict[str, Any]) -> Joined | None:
        """Adds a part; gives the blob when it is whole.

        Raises:
            LimitExceededError: The blob is, or says it is, over the limit; or too many are open.
            ProtocolError: A part is missing, comes twice, or the length is not what was declared.
        """
        if part.total_length > self._limit:
            raise LimitExceededError(
                f"blob {part.id!r} says it has {part.total_length} bytes, over the limit of {self._limit} for one file"
            )
        if part.id not in self._open and len(self._open) >= OPEN_BLOBS:
            raise LimitExceededError(f"blob {part.id!r}: {OPEN_BLOBS} others are still in parts; end one first")
        parts = self._open.setdefault(part.id, _Parts(part.total_length, meta))
        self._check(part, parts)
        parts.data += part.blob
        parts.next += 1
        if not part.end:
            return None
        del self._open[part.id]
        if len(parts.data) != parts.total:
            raise ProtocolError(f"blob {part.id!r} declared {parts.total} bytes and ended after {len(parts.data)}")
        return Joined(bytes(parts.data), parts.meta)

    def check_all_ended(self) -> None:
        """Refuses blobs that were begun and not ended.

        Raises:
            ProtocolError: There are some; they are named.
        """
        if self._open:
            names = ", ".join(repr(name) for name in self._open)
            raise ProtocolError(f"the run ended before the last part of blob {names}")

    def _check(self, part: BlobChunkPayload, parts: _Parts) -> None:
        if part.sequence != parts.next:
            raise ProtocolError(f"blob {part.id!r}: expected part {parts.next}, got part {part.sequence}")
        if part.total_length != parts.total:
            raise ProtocolError(f"blob {part.id!r} first declared {parts.total} bytes, then {part.total_length}")
        if len(parts.data) + len(part.blob) > parts.total:
            raise ProtocolError(f"blob {part.id!r} is longer than the {parts.total} bytes it declared")

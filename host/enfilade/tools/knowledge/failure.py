"""What goes wrong with knowledge bases and documents, in words for whoever runs the host."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from enfilade_sdk.errors import EnfiladeError, ErrorCode


class Reason(StrEnum):
    """The kinds of fault of a knowledge base; they stand in `details["reason"]` and never change their meaning."""

    DAMAGED = "damaged"
    EMBEDDING = "embedding"
    FAILED = "failed"
    FULL = "full"
    LOCKED = "locked"
    NEWER = "newer"
    NOT_A_BASE = "not_a_base"
    READ_ONLY = "read_only"
    REFUSED = "refused"


class KnowledgeError(EnfiladeError):
    """A knowledge base cannot be read or written now; the text names it, says why and what to do.

    Args:
        message: The text.
        reason: Which kind of fault it is.
    """

    code = ErrorCode.TOOL_FAILED

    def __init__(self, message: str, reason: Reason = Reason.FAILED) -> None:
        super().__init__(message, details={"reason": reason.value})
        self.reason = reason


class KnowledgeNotFoundError(EnfiladeError):
    """There is no knowledge base, or no document in it, of that name; the text has near matches."""

    code = ErrorCode.TOOL_NOT_FOUND


class DocumentFault(EnfiladeError):  # noqa: N818 - it is the fault of a file, and of many at once
    """A file cannot be taken in; the text names it, says why and what to do."""

    code = ErrorCode.INVALID_PARAMS


def faults_together(faults: Sequence[DocumentFault]) -> DocumentFault:
    """One error for all files that cannot be taken in."""
    if len(faults) == 1:
        return faults[0]
    lines = "".join(f"\n  - {fault.message}" for fault in faults)
    return DocumentFault(f"{len(faults)} files cannot be taken in:{lines}")


@contextmanager
def told_of(place: str) -> Iterator[None]:
    """Turns what SQLite raises into a `KnowledgeError` that names the place."""
    try:
        yield
    except sqlite3.Error as error:
        reason, text = _meaning(error)
        raise KnowledgeError(f"{place} cannot be used: {text}", reason) from None


_MEANINGS = {
    "FULL": (Reason.FULL, "the disk is full; free some space"),
    "IOERR": (Reason.FULL, "the disk refuses to write (full, a limit on file sizes, or broken); look at its space"),
    "READONLY": (Reason.READ_ONLY, "it is read-only; make the file and its folder writable"),
    "BUSY": (Reason.LOCKED, "another program is writing to it; wait until that is done, then try again"),
    "LOCKED": (Reason.LOCKED, "another program is writing to it; wait until that is done, then try again"),
    "CANTOPEN": (Reason.REFUSED, "it cannot be opened; its folder must exist and be accessible to this user"),
    "PERM": (Reason.REFUSED, "this user may not open it"),
    "AUTH": (Reason.REFUSED, "this user may not open it"),
    "CORRUPT": (Reason.DAMAGED, "the file is damaged; remove it and add the documents again"),
    "NOTADB": (Reason.NOT_A_BASE, "the file is no knowledge base"),
}


def _meaning(error: sqlite3.Error) -> tuple[Reason, str]:
    name = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
    for kind, meaning in _MEANINGS.items():
        if name == kind or name.startswith(f"{kind}_"):
            return meaning
    if "fts5" in str(error):
        return Reason.REFUSED, "the SQLite of this Python lacks its full-text search (FTS5); use another Python"
    return Reason.FAILED, str(error)

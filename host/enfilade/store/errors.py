"""What can be wrong with the store."""

from enum import StrEnum

from enfilade.errors import HostError
from enfilade_sdk.errors import ErrorCode


class Trouble(StrEnum):
    """The kinds of fault of a store; they stand in `details["store"]` and never change their meaning."""

    FULL = "full"
    READ_ONLY = "read_only"
    LOCKED = "locked"
    GONE = "gone"
    REFUSED = "refused"
    DAMAGED = "damaged"
    NEWER = "newer"
    NOT_A_STORE = "not_a_store"
    BUFFER_FULL = "buffer_full"
    FAILED = "failed"


class StoreError(HostError):
    """The store cannot be read or written now; the text names the place, the reason and what to do.

    Args:
        message: The text.
        trouble: Which kind of fault it is.
    """

    code = ErrorCode.STORE_FAILED

    def __init__(self, message: str, trouble: Trouble = Trouble.FAILED) -> None:
        super().__init__(message, details={"store": trouble.value})
        self.trouble = trouble


class NoRecordsError(StoreError):
    """There is no store yet, because nothing was recorded: what was asked for is not there, and nothing is broken."""

    code = ErrorCode.INVALID_PARAMS


class RunNotFoundError(HostError):
    """There is no recorded run of that id, or several whose ids begin so."""

    code = ErrorCode.INVALID_PARAMS


class RunBusyError(HostError):
    """A run that is still going was to be deleted."""

    code = ErrorCode.INVALID_PARAMS


class PetitionNotFoundError(HostError):
    """There is no petition of that id, or several whose ids begin so."""

    code = ErrorCode.INVALID_PARAMS


class PetitionClosedError(HostError):
    """A petition was to be answered that does not wait any more."""

    code = ErrorCode.INVALID_PARAMS

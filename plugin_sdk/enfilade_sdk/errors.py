"""Errors a strategy may meet or raise, each with a stable code."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar


class ErrorCode(StrEnum):
    """The codes that travel on the wire and stand in outcomes. They never change their meaning."""

    INVALID_PARAMS = "invalid_params"
    TOOL_NOT_FOUND = "tool_not_found"
    TOOL_FAILED = "tool_failed"
    MODEL_FAILED = "model_failed"
    QUOTA_EXCEEDED = "quota_exceeded"
    LIMIT_EXCEEDED = "limit_exceeded"
    MAX_ITERATIONS = "max_iterations"
    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    GUEST_DIED = "guest_died"
    PROTOCOL = "protocol"
    NOT_ADMITTED = "not_admitted"
    STORE_FAILED = "store_failed"
    BUSY = "busy"
    INTERNAL = "internal"


class EnfiladeError(Exception):
    """Root of every error that Enfilade raises on purpose.

    Args:
        message: One text that says what was expected, what came and what to do.
        details: Structured facts for programs; JSON values only, never secrets.
    """

    code: ClassVar[ErrorCode] = ErrorCode.INTERNAL

    def __init__(self, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed when it is made again."""
        return bool(self.details.get("retryable", False))


class InternalError(EnfiladeError):
    """A fault of the strategy or of the host itself, not of its input."""


class InvalidParamsError(EnfiladeError):
    """The parameters of a run do not fit what the strategy declares."""

    code = ErrorCode.INVALID_PARAMS


class ToolNotFoundError(EnfiladeError):
    """A tool was asked for that this run was not given."""

    code = ErrorCode.TOOL_NOT_FOUND


class ToolFailedError(EnfiladeError):
    """A tool call could not be carried out at all (a tool's own failure is a result, not this)."""

    code = ErrorCode.TOOL_FAILED


class ModelFailedError(EnfiladeError):
    """The model's provider refused or broke off; `details` has `status` where there is one."""

    code = ErrorCode.MODEL_FAILED


class QuotaExceededError(EnfiladeError):
    """A quota of tokens, cost or calls is used up."""

    code = ErrorCode.QUOTA_EXCEEDED


class LimitExceededError(EnfiladeError):
    """A size, count or time limit was passed."""

    code = ErrorCode.LIMIT_EXCEEDED


class AgentMaxIterationError(EnfiladeError):
    """The strategy used up its rounds and the model still asked for a tool."""

    code = ErrorCode.MAX_ITERATIONS


class RunCancelled(EnfiladeError):  # noqa: N818 - named for what happened, as asyncio.CancelledError is
    """The run was cancelled while the strategy waited or yielded."""

    code = ErrorCode.CANCELLED


class DeadlineExceededError(EnfiladeError):
    """The run's time is used up."""

    code = ErrorCode.DEADLINE


class GuestDiedError(EnfiladeError):
    """The plugin's process ended in the middle of something."""

    code = ErrorCode.GUEST_DIED


class ProtocolError(EnfiladeError):
    """A peer broke a rule of the wire; the message says which."""

    code = ErrorCode.PROTOCOL


class NotAdmittedError(EnfiladeError):
    """A strategy does not fit the contract, or there is none of that name."""

    code = ErrorCode.NOT_ADMITTED


class BusyError(EnfiladeError):
    """There is no place for another run now; nothing was begun, and the same may succeed later."""

    code = ErrorCode.BUSY


class StoreFailedError(EnfiladeError):
    """The host's store cannot be read or written now."""

    code = ErrorCode.STORE_FAILED


def _classes(root: type[EnfiladeError]) -> dict[ErrorCode, type[EnfiladeError]]:
    return {cls.code: cls for cls in (root, *root.__subclasses__()) if cls.__module__ == __name__}


_BY_CODE = _classes(EnfiladeError) | {ErrorCode.INTERNAL: InternalError}


def error_from_code(code: str, message: str, details: Mapping[str, Any] | None = None) -> EnfiladeError:
    """Makes the error that a code stands for; an unknown code makes an `InternalError` that names it."""
    try:
        cls = _BY_CODE[ErrorCode(code)]
    except ValueError:
        return InternalError(f"{message} (unknown error code {code!r})", details=details)
    return cls(message, details=details)

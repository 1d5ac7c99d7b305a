"""What may go wrong when plugins are installed. `details["reason"]` says which, for programs."""

import errno
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from enfilade.errors import HostError
from enfilade_sdk.errors import ErrorCode


class Reason(StrEnum):
    """Why a plugin was not installed or may not start. The values never change their meaning."""

    SPEC = "spec"
    PYTHON = "python"
    NO_INSTALLER = "no_installer"
    INSTALLER_FAILED = "installer_failed"
    DISK_FULL = "disk_full"
    TIMED_OUT = "timed_out"
    BUILD_REFUSED = "build_refused"
    UNSAFE_ARCHIVE = "unsafe_archive"
    NOT_A_PLUGIN = "not_a_plugin"
    NOT_OPENED = "not_opened"
    EXISTS = "exists"
    UNKNOWN = "unknown"
    DRIFT = "drift"
    LOCK_FILE = "lock_file"
    STORE = "store"


def is_full(error: OSError) -> bool:
    """Whether the system refused something for want of room."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


class InstallError(HostError):
    """A plugin could not be installed, changed or trusted; what worked before still does.

    Args:
        reason: Which kind of failure it is; stands in `details["reason"]`.
        message: What was expected, what came, what to do.
        more: Further facts for programs.
    """

    code = ErrorCode.NOT_ADMITTED

    def __init__(self, reason: Reason, message: str, more: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, details={"reason": reason.value, **(more or {})})
        self.reason = reason


class SpecError(InstallError):
    """What was asked for cannot be read: the plugin to install, or the Python to use."""

    code = ErrorCode.INVALID_PARAMS


class DriftError(InstallError):
    """An installed tree is not what was installed; `details["changes"]` lists what changed."""

    def __init__(self, message: str, changes: list[str]) -> None:
        super().__init__(Reason.DRIFT, message, {"changes": changes})
        self.changes = changes

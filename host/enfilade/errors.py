"""Errors of the host. What happens to a run has the SDK's codes; these are faults of set-up."""

from collections.abc import Iterable
from difflib import get_close_matches

from enfilade_sdk.errors import EnfiladeError, ErrorCode


class HostError(EnfiladeError):
    """Root of the errors that belong to the host."""


class ConfigError(HostError):
    """The configuration or an agent file cannot be used; the text names the place."""

    code = ErrorCode.INVALID_PARAMS


class MisuseError(HostError):
    """The program that holds a host asks it for what cannot be; the text says what to do instead."""

    code = ErrorCode.INVALID_PARAMS


class LaunchError(HostError):
    """A plugin did not come to life; the text says what was read, what was expected, how it ended."""

    code = ErrorCode.GUEST_DIED


class SandboxError(LaunchError):
    """A plugin was not started because its sandbox needs what this machine does not have."""


class StrategyNotFoundError(HostError):
    """There is no admitted strategy of that name."""

    code = ErrorCode.NOT_ADMITTED


class NameConflictError(HostError):
    """Two plugins offer the same name; both origins are named."""

    code = ErrorCode.NOT_ADMITTED


SHOWN_NAMES = 20
"""Names that a 'not found' text lists."""


def near_matches(name: str, known: Iterable[str]) -> str:
    """The end of a 'not found' text: what was perhaps meant, and what there is."""
    names = sorted(set(known))
    if not names:
        return "there are none"
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    shown = ", ".join(names[:SHOWN_NAMES]) + (", ..." if len(names) > SHOWN_NAMES else "")
    meant = f"did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    return f"{meant}there are: {shown}"

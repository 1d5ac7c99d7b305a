"""Where a record stands. It leaves `running` once, and for one of the others."""

from enum import StrEnum


class State(StrEnum):
    """The states of a run, a round and a call."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """The host that owned it died; another one found it so."""

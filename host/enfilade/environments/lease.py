"""The right to run a plugin from its environment."""

from types import TracebackType
from typing import Self

from enfilade.environments.entry import PluginEntry
from enfilade.environments.hold import Hold


class Lease:
    """The right to run a plugin from its environment: as long as it lasts, no update or removal takes it away."""

    def __init__(self, entry: PluginEntry, hold: Hold) -> None:
        self.entry = entry
        self._hold = hold

    def release(self) -> None:
        """Gives it back; the next sweep removes what was replaced meanwhile. May be called twice."""
        self._hold.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

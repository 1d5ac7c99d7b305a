"""Plugins that somebody may change while a host lives: what a lineup follows."""

from typing import Protocol

from enfilade.candidate import Candidate


class Source(Protocol):
    """Plugins that somebody may change while a host lives."""

    def revision(self) -> object:
        """A value that is another one when something changed; asked before each run, so it costs next to nothing."""
        ...

    def candidates(self) -> list[Candidate]:
        """What there is now.

        Raises:
            EnfiladeError: It cannot be told, or not be used.
        """
        ...

    def remark(self, name: str) -> str:
        """What there is to say about a strategy that nobody offers; empty when there is nothing."""
        ...


class NothingMore:
    """The source of a host whose plugins were given to it once and for all."""

    def revision(self) -> object:
        """Always the same."""
        return None

    def candidates(self) -> list[Candidate]:
        """None."""
        return []

    def remark(self, name: str) -> str:  # noqa: ARG002 - the protocol's argument
        """Nothing."""
        return ""

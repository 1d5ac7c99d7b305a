"""Where a run's messages go while it runs."""

from collections.abc import Callable
from typing import Protocol

from enfilade.outcome import Outcome
from enfilade_sdk.messages import ToolInvokeMessage


class Sink(Protocol):
    """Shows one run."""

    def begin(self, so_far: Callable[[], Outcome | None], *, tools: bool, last_round: int | None) -> None:
        """Called when a run is about to begin.

        Args:
            so_far: Gives the run's outcome, once there is one.
            tools: Whether it has tools.
            last_round: The number of the round in which no tool may be called; None if unknown.
        """
        ...

    def message(self, message: ToolInvokeMessage) -> None:
        """Shows a message."""
        ...

    def end(self, outcome: Outcome) -> None:
        """Shows how the run ended; called once."""
        ...

    def last_word(self) -> None:
        """Called instead of `end`, from any thread, when the process is about to end over a run that does not stop."""
        ...

"""What is to be done: one plugin to install, by whose leave, and whom to tell."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from enfilade.candidate import Candidate
from enfilade.environments.archive import ArchiveLimits
from enfilade.environments.spec import Spec

if TYPE_CHECKING:  # see construction.py
    from enfilade_sdk.contract import StrategyDescription

StepName = Literal["check", "python", "build", "resolve", "create", "install", "compile", "open", "record"]

Opener = Callable[[Candidate], Awaitable["Sequence[StrategyDescription]"]]
"""Opens a plugin in a process of its own, gives what it says of its strategies, and stops it again."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where an installation is: the step, and what it says (its beginning, or a line of a tool)."""

    name: StepName
    text: str


Progress = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Order:
    """One installation.

    Attributes:
        spec: What to install.
        opener: How to open it for the check.
        python: The Python that was asked for: a path or a version.
        allow_build: Whether build code may run.
        progress: Told each step.
        limits: What wheels may unpack to.
    """

    spec: Spec
    opener: Opener
    python: str | None = None
    allow_build: bool = False
    progress: Progress | None = None
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)

    def tell(self, name: StepName, text: str) -> None:
        """Tells where it is."""
        if self.progress is not None:
            self.progress(Step(name, text))

"""What a server on this machine needs of the room that starts processes. The tools room starts none itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """What to start.

    Attributes:
        log_name: Under which name its output is logged.
        command: The program and its arguments.
        folder: The folder to start it in.
        environment: Variables to give it beside the few that every program gets.
        secrets: Texts that no log may show.
    """

    log_name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


class ServerProcess(Protocol):
    """A started program. Whoever has it must `stop` it."""

    def write(self, data: bytes) -> None:
        """Writes to its stdin; never waits."""
        ...

    @property
    def congested(self) -> bool:
        """Whether much of what was written to it is unread."""
        ...

    async def writable(self) -> None:
        """Waits until it has read most of what was written; for ever, if it reads nothing."""
        ...

    def note(self, line: bytes) -> None:
        """Keeps a line for the log and the error of its end."""
        ...

    def last_words(self) -> str:
        """How it ended and what it printed last."""
        ...

    async def stop(self) -> None:
        """Ends it with everything it has started."""
        ...


class Processes(Protocol):
    """Starts programs; one for each host."""

    async def start(
        self, spec: ProcessSpec, take: Callable[[bytes], float], ended: Callable[[], None]
    ) -> ServerProcess:
        """Starts one.

        Args:
            spec: What to start.
            take: Called with what it prints on stdout; gives the seconds for which stdout is to be left unread.
            ended: Called once when it has ended, or has closed its stdout.

        Raises:
            OSError: There is no such program or folder, or it may not be started.
            ValueError: An argument or variable holds a NUL character.
        """
        ...

    async def close(self) -> None:
        """Gives back what it holds, after the programs were stopped."""
        ...

"""Knowledge bases for a command: their settings, their files, and how a failure is told."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from enfilade.cli.exit_code import FAILED
from enfilade.cli.failure import tell
from enfilade.cli.screen import ReaderGoneError, Screen
from enfilade.config import Config, load_config
from enfilade.settings.current_folder import current_folder
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.place import file_of, files, not_found
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade_sdk.errors import EnfiladeError


@dataclass(frozen=True, slots=True)
class KnowledgeBases:
    """The knowledge bases of the configuration and of the user's data folder.

    Attributes:
        config: The configuration.
        folder: Where relative paths start.
    """

    config: Config
    folder: Path

    @classmethod
    def here(cls) -> Self:
        """Those that a command started here has.

        Raises:
            ConfigError: The configuration cannot be used, or the current folder is not there any more.
        """
        return cls(load_config(), current_folder())

    def settings(self, name: str) -> KnowledgeSettings:
        """What the configuration says of one."""
        return self.config.knowledge.get(name, KnowledgeSettings())

    def files(self) -> dict[str, Path]:
        """All of them by name; the file of one that is configured need not be there."""
        return files(self.config.knowledge, self.folder)

    def made(self, name: str) -> Index:
        """One to write to, made where there is none."""
        return Index.make(name, file_of(name, self.settings(name), self.folder))

    def opened(self, name: str) -> Index:
        """One to read.

        Raises:
            KnowledgeNotFoundError: There is none of that name.
        """
        index = Index.open(name, file_of(name, self.settings(name), self.folder))
        if index is None:
            raise not_found(name, (other for other, file in self.files().items() if file.exists()))
        return index


def counted(number: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def told(work: Callable[[Screen], int], *, as_json: bool) -> int:
    """Does a command's work; a failure is told. Gives the exit code.

    Args:
        work: The work.
        as_json: Whether a failure is told as JSON too.
    """
    screen = Screen.claim()
    try:
        return work(screen)
    except EnfiladeError as error:
        return tell(screen, error, as_json=as_json)
    except ReaderGoneError:
        return FAILED

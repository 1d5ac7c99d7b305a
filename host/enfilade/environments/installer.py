"""What an installer does, and how its failures read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from enfilade.environments.command import Ended, Place
from enfilade.environments.diagnosis import diagnosed
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.interpreter import Interpreter
from enfilade.environments.pin import Pin
from enfilade.isolation.exit_code import in_words


@dataclass(frozen=True, slots=True)
class Request:
    """What an environment shall hold.

    Attributes:
        plugin: The plugin's name, for texts.
        requirements: Lines of a requirements file.
        find_links: Folders of wheels to look at beside the configured sources.
        interpreter: The Python it is for.
        allow_build: Whether source archives may be built, which runs their code.
    """

    plugin: str
    requirements: tuple[str, ...]
    find_links: tuple[Path, ...]
    interpreter: Interpreter
    allow_build: bool


class Installer(Protocol):
    """Makes environments. Every method runs commands that end with the host, and fails as an `InstallError`."""

    @property
    def label(self) -> str:
        """The tool and its version."""
        ...

    async def build(self, source: Path, interpreter: Interpreter, folder: Path, place: Place) -> None:
        """Builds a wheel from a folder or a source archive into another folder."""
        ...

    async def resolve(self, request: Request, place: Place) -> tuple[Pin, ...]:
        """Chooses a version of everything that is needed; installs nothing."""
        ...

    async def create(self, venv: Path, interpreter: Interpreter, place: Place) -> None:
        """Makes an empty virtual environment."""
        ...

    async def install(self, venv: Path, request: Request, pins: tuple[Pin, ...], place: Place) -> None:
        """Installs exactly these files, of exactly these hashes."""
        ...


def check_ended(ended: Ended, tool: str, doing: str, *, allow_build: bool) -> None:
    """Refuses a command that failed.

    Args:
        ended: How it ended.
        tool: The tool's name.
        doing: What it was to do: `install x`.
        allow_build: Whether it was allowed to build.

    Raises:
        InstallError: With the tool's last lines and how it ended; `details` has them too.
    """
    if ended.code == 0:
        return
    said = "\n  ".join(ended.lines) or "nothing"
    reason, advice = diagnosed(said, allow_build=allow_build)
    raise InstallError(
        reason,
        f"{tool} could not {doing} ({in_words(ended.code)}){': ' if advice else ''}{advice}; nothing was changed. "
        f"Its last lines:\n  {said}",
        {"tool": tool, "exit_code": ended.code, "lines": list(ended.lines)},
    )


def did_nothing(tool: str, what: str) -> InstallError:
    """The error for a tool that ended well and did not do what it was asked for, as only another program does."""
    return InstallError(Reason.INSTALLER_FAILED, f"{tool} {what}, so nothing was changed; install {tool} anew")

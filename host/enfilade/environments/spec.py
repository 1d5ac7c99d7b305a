"""What to install, as an operator writes it: `NAME`, `NAME==V`, a wheel, a source archive, a folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from enfilade.environments.errors import Reason, SpecError
from enfilade.settings.current_folder import absolute

Kind = Literal["name", "wheel", "source"]

_SOURCE_ARCHIVES = (".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True, slots=True)
class Spec:
    """One plugin to install.

    Attributes:
        text: As it was written; of a file or folder the absolute path.
        kind: A name to be found where packages come from; a wheel; or source, which has to be built.
        name: The distribution's canonical name; empty as long as only building can tell it.
        requirement: The requirement of a name.
        path: The file or folder otherwise.
    """

    text: str
    kind: Kind
    name: str
    requirement: str = ""
    path: Path | None = None

    @property
    def label(self) -> str:
        """A word for folders' names: the plugin's name, or the file's."""
        return self.name or (self.path.name if self.path else "plugin")


def parse_spec(text: str) -> Spec:
    """Reads what to install. A name wins over a folder of that name; `./NAME` means the folder.

    Raises:
        SpecError: It is neither; the text says what was expected.
    """
    text = text.strip()
    if text.lower().endswith(".whl"):
        return _wheel(text)
    if "://" not in text and (text.startswith((".", "~")) or "/" in text or text.endswith(_SOURCE_ARCHIVES)):
        return _source(text)
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        raise _unreadable(text, "got something that is none of them") from None
    if requirement.url or requirement.marker:
        found = "an address" if requirement.url else "an environment marker"
        raise _unreadable(text, f"got {found}; download the wheel and give its path, or give the name alone")
    return Spec(text, "name", canonicalize_name(requirement.name), str(requirement))


def _wheel(text: str) -> Spec:
    path = _existing(text)
    if not path.is_file():
        raise _unreadable(text, f"{path} is not a file")
    try:
        name, _, _, _ = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise _unreadable(text, f"the file's name is not a wheel's: {error}") from None
    return Spec(str(path), "wheel", name, path=path)


def _source(text: str) -> Spec:
    path = _existing(text)
    if path.is_dir() and not any((path / file).is_file() for file in ("pyproject.toml", "setup.py")):
        raise _unreadable(text, f"{path} has no pyproject.toml, so nothing can be built from it")
    if not path.is_dir() and not path.name.endswith(_SOURCE_ARCHIVES):
        raise _unreadable(text, f"{path} is neither a wheel, nor a source archive, nor a folder")
    return Spec(str(path), "source", "", path=path)


def _existing(text: str) -> Path:
    path = absolute(Path(text))
    if not path.exists():
        raise _unreadable(text, f"there is no {path}")
    return path


def _unreadable(text: str, found: str) -> SpecError:
    return SpecError(
        Reason.SPEC,
        f"cannot install {text!r}: expected NAME, NAME==VERSION, a wheel's path, or the path of a folder or source "
        f"archive; {found}",
    )

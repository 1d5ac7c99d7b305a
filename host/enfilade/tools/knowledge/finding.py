"""Which files the paths mean that were given."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from enfilade.tools.knowledge.failure import DocumentFault, faults_together
from enfilade.tools.knowledge.formats.reading import FORMATS
from enfilade.tools.names import did_you_mean


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to take in.

    Attributes:
        path: Where it is, absolute.
        name: What it is to be called: its path from the folder that was given, with that folder's name.
        is_named: Whether it was given itself; else it was found in a folder.
    """

    path: Path
    name: str
    is_named: bool


def files_of(paths: Sequence[str], folder: Path, *, may_be_none: bool = False) -> list[FoundFile]:
    """The files that paths mean, each once: files, and those of folders whose endings say that they are documents.

    Of folders, what begins with a dot is passed over, and links to other folders are not followed.

    Args:
        paths: The paths as they were given.
        folder: Where relative ones start.
        may_be_none: Whether a folder without a document is no fault.

    Raises:
        DocumentFault: One is not there, or nothing is found; all faults are named.
    """
    found: dict[Path, FoundFile] = {}
    faults: list[DocumentFault] = []
    for given in paths:
        path = _absolute(given, folder)
        try:
            mode = path.stat().st_mode
            below = [FoundFile(path, path.name, is_named=True)] if not stat.S_ISDIR(mode) else list(_below(path))
        except (OSError, ValueError) as error:
            faults.append(_missing(given, path, error))
            continue
        if not below and not may_be_none:
            faults.append(DocumentFault(f"the folder {given} holds no document (*{', *'.join(FORMATS)})"))
        for file in below:
            if file.is_named or file.path not in found:
                found[file.path] = file
    faults += [fault for file in found.values() if (fault := _unnameable(file)) is not None]
    if faults:
        raise faults_together(faults)
    return list(found.values())


def folders_of(paths: Sequence[str], folder: Path) -> list[Path]:
    """The paths that mean folders, absolute."""
    return [path for path in (_absolute(given, folder) for given in paths) if path.is_dir()]


def _absolute(given: str, folder: Path) -> Path:
    return Path(os.path.abspath(folder / Path(given).expanduser()))  # noqa: PTH100 - links in it stay as they are


def _below(folder: Path) -> Iterator[FoundFile]:
    def refused(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(folder, onerror=refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and path.suffix.lower() in FORMATS:
                yield FoundFile(path, str(Path(folder.name) / path.relative_to(folder)), is_named=False)


def _missing(given: str, path: Path, error: OSError | ValueError) -> DocumentFault:
    if not isinstance(error, FileNotFoundError | ValueError):
        return DocumentFault(f"{given} cannot be read: {error.strerror}")
    try:
        there = os.listdir(path.parent)  # noqa: PTH208 - names, not paths
    except (OSError, ValueError):
        return DocumentFault(f"there is no file or folder {given!r}; its folder is not there either")
    return DocumentFault(f"there is no file or folder {given!r}.{did_you_mean(path.name, there)}".rstrip("."))


def _unnameable(file: FoundFile) -> DocumentFault | None:
    try:
        str(file.path).encode()
    except UnicodeEncodeError:
        return DocumentFault(f"the name of {str(file.path)!r} is not UTF-8; give it another one")
    return None

"""The files of a plugin that its author changes while it runs."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from enfilade.candidate import Candidate
from enfilade.settings.current_folder import absolute

MOST_FILES = 5000
"""Files that are looked at; of a larger tree the rest is passed over."""

_PASSED_OVER = {"__pycache__", ".git", ".venv", "node_modules"}

Look = frozenset[tuple[str, int, int]]
"""Each file with its time (in nanoseconds) and size."""


class SourceFiles:
    """The packages of a plugin's strategies; of a plugin that a command starts, the files that the command names.

    Nothing is imported to find them.
    """

    def __init__(self, candidate: Candidate) -> None:
        self._places = sorted(set(_places(candidate)))

    def look(self) -> Look:
        """How they are now. Two looks differ when something was changed between them."""
        found = set()
        for path in self._files():
            try:
                status = path.stat()
            except OSError:
                continue
            found.add((str(path), status.st_mtime_ns, status.st_size))
            if len(found) >= MOST_FILES:
                break
        return frozenset(found)

    def _files(self) -> Iterator[Path]:
        for place in self._places:
            if place.is_file():
                yield place
            for folder, names, files in os.walk(place):
                names[:] = sorted(name for name in names if name not in _PASSED_OVER)
                yield from (Path(folder, file) for file in sorted(files) if not file.endswith((".pyc", ".swp", "~")))


def _places(candidate: Candidate) -> Iterator[Path]:
    for part in candidate.command:
        if Path(part).is_file():
            yield absolute(Path(part))
    folders = [Path(path) for path in candidate.paths]
    if candidate.own_environment is not None:
        folders.append(candidate.own_environment.site_packages)
    for offer in candidate.offers:
        top = offer.target.partition(":")[0].partition(".")[0]
        yield from _package(top, folders) if folders else _installed(top)


def _package(top: str, folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        for place in (folder / top, folder / f"{top}.py"):
            if place.exists():
                yield place
                return


def _installed(top: str) -> Iterator[Path]:
    """Where a package is that is installed beside the host; what finds it may be an editable installation's hook."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return
    if spec is not None and spec.submodule_search_locations:
        yield from map(Path, spec.submodule_search_locations)
    elif spec is not None and spec.origin:
        yield Path(spec.origin)

"""Finding the Python that a plugin's environment is made with."""

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from enfilade.environments.command import Place, run_command
from enfilade.environments.errors import InstallError, Reason, SpecError
from enfilade.settings.current_folder import absolute

OLDEST = Version("3.11")
"""The oldest Python that the SDK runs on."""

_QUESTION = """
import json, sys
base = getattr(sys, "_base_executable", "")
print(json.dumps([base, list(sys.version_info[:3]), sys.implementation.name, sys.prefix]))
"""
_REQUEST = re.compile(r"(?:python)?(3(?:\.\d+){0,2})")
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that is no virtual environment's.

    Attributes:
        path: Its executable.
        version: Its version, such as 3.12.1.
    """

    path: Path
    version: Version

    def fits(self, requires_python: str) -> bool:
        """Whether a distribution with that `Requires-Python` can be installed in it."""
        return SpecifierSet(requires_python).contains(self.version, prereleases=True)


async def find_interpreter(request: str | None, place: Place, requires_python: str = "") -> Interpreter:
    """The Python to use.

    Args:
        request: A path, or a version such as `3.12`; None is the host's own, or one that the plugin asks for.
        place: Where to run the candidates to ask for their version.
        requires_python: The plugin's own condition, as far as it is known already.

    Raises:
        SpecError: What was asked for is not there, is too old, or is no CPython.
        InstallError: The plugin needs a Python that this machine does not have.
    """
    wanted = _REQUEST.fullmatch(request.strip()) if request else None
    if request and wanted is None:
        return await _named(request, place)
    if wanted is None and (own := _host_interpreter()).fits(requires_python):
        return own
    version = wanted.group(1) if wanted else ""
    if version.count(".") and Version(version) < OLDEST:
        raise SpecError(Reason.PYTHON, f"expected Python {OLDEST} or newer, which the SDK needs, got {request!r}")
    tried = []
    for path in _known(version):
        found = await _ask(path, place)
        tried.append(f"{path}" + (f" ({found.version})" if isinstance(found, Interpreter) else f" ({found})"))
        if isinstance(found, Interpreter) and _matches(found.version, version) and found.fits(requires_python):
            return found
    condition = f"Python {version}" if version else f"a Python {requires_python}, which the plugin requires"
    raise InstallError(
        Reason.PYTHON,
        f"expected {condition}, and found none on this machine; looked at {', '.join(tried) or 'nothing'}; "
        "install one and give its path",
    )


async def _named(request: str, place: Place) -> Interpreter:
    path = absolute(Path(request))
    found = await _ask(path, place)
    if isinstance(found, str):
        raise SpecError(
            Reason.PYTHON,
            f"expected the path of a CPython {OLDEST} or newer, or a version such as 3.12, got {request!r}: {found}",
        )
    return found


async def _ask(path: Path, place: Place) -> Interpreter | str:
    """The interpreter behind an executable; of a virtual environment's the one it was made with. Else why not."""
    bounded = Place(place.folder, place.hold, seconds=_SECONDS)
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(place.folder)}
    try:
        ended = await run_command([path, "-I", "-S", "-c", _QUESTION], environment, bounded)
    except InstallError as error:
        return error.message
    try:
        base, release, kind, prefix = json.loads(ended.output)
        return _judged(Path(base or path), Version(".".join(map(str, release))), kind, prefix)
    except (ValueError, TypeError):
        said = ended.lines if ended.code else ()
        at = -1 if any(line.startswith("Traceback") for line in said) else 0
        return said[at].strip() if said else "it does not answer as Python 3 does"


def _judged(executable: Path, version: Version, kind: str, prefix: str) -> Interpreter | str:
    if kind != "cpython":
        return f"it is {kind} {version}"
    if version < OLDEST:
        return f"it is {version}, and the SDK needs {OLDEST}"
    real = executable.resolve()
    if not real.is_file():
        return f"{prefix} was made with {real}, which is gone"
    return Interpreter(real, version)


def _host_interpreter() -> Interpreter:
    return Interpreter(_own().resolve(), Version(".".join(map(str, sys.version_info[:3]))))


def _own() -> Path:
    return Path(getattr(sys, "_base_executable", None) or sys.executable)


def _matches(version: Version, wanted: str) -> bool:
    parts = [int(part) for part in wanted.split(".")] if wanted else []
    return list(version.release[: len(parts)]) == parts


def _known(version: str) -> Iterator[Path]:
    """Executables that may be it: the host's own, those on the PATH, those that pyenv and uv have installed."""
    names = [f"python{'.'.join(version.split('.')[:2])}"] if version.count(".") else _minor_names()
    seen: set[str] = set()
    for path in [_own(), *_on_path(names), *_collections()]:
        real = os.path.realpath(path)
        if real not in seen and path.is_file():
            seen.add(real)
            yield path


def _minor_names() -> list[str]:
    newest = max(sys.version_info.minor, 14)
    return [f"python3.{minor}" for minor in range(OLDEST.minor, newest + 1)]


def _on_path(names: list[str]) -> Iterator[Path]:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for name in names:
            path = Path(folder or ".", name)
            if path.is_absolute() and os.access(path, os.X_OK):
                yield path


def _collections() -> Iterator[Path]:
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    for folder in (pyenv, managed):
        yield from sorted(folder.glob("3.*/bin/python3"))
        yield from sorted(folder.glob("cpython-3.*/bin/python3"))

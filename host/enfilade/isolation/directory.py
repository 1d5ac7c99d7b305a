"""Private directories for launches, with paths short enough for a socket."""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from enfilade.errors import LaunchError

PATH_LIMIT = 60
"""Bytes of a directory's path. A socket's path holds 107, and its name needs room."""

_PREFIX = "enf-"


def make_directory() -> str:
    """Makes a directory that only this user can enter. It carries the host's process id in its name.

    Raises:
        LaunchError: No place gave one of a short enough path; the text names each with its reason.
    """
    refusals = []
    for place in _places():
        if reason := _unusable(place):
            refusals.append(f"{place}: {reason}")
            continue
        try:
            path = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place)
        except OSError as error:
            refusals.append(f"{place}: {error.strerror}")
            continue
        if len(os.fsencode(path)) <= PATH_LIMIT:
            return path
        remove_directory(path)
        refusals.append(f"{place}: its path is over {PATH_LIMIT} bytes")
    raise LaunchError(
        "no place for a plugin's private directory (a socket's path holds 107 bytes): "
        + "; ".join(refusals)
        + "; set ENFILADE_RUNTIME_DIR to a short, writable directory"
    )


def remove_directory(path: str) -> None:
    """Removes a launch's directory with everything in it."""
    shutil.rmtree(path, ignore_errors=True)


def sweep() -> None:
    """Removes directories of hosts that died without removing them."""
    for place in _places():
        with contextlib.suppress(OSError):
            for entry in Path(place).glob(f"{_PREFIX}*-*"):
                if _is_stale(entry):
                    remove_directory(str(entry))


def _places() -> list[str]:
    named = [os.environ.get("ENFILADE_RUNTIME_DIR"), os.environ.get("XDG_RUNTIME_DIR")]
    places = [*named, "/tmp", "/dev/shm", "/var/tmp", os.environ.get("TMPDIR")]  # noqa: S108 - mkdtemp makes them private
    return list(dict.fromkeys(place for place in places if place))


def _unusable(place: str) -> str:
    if not os.path.isabs(place):  # noqa: PTH117 - a str is what it stays
        return "it is not an absolute path"
    if "," in place or "\n" in place:
        return "its path has a comma or a line end, which a socket's address cannot have"
    return ""


def _is_stale(entry: Path) -> bool:
    status = entry.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not _alive(entry.name)


def _alive(name: str) -> bool:
    number = name.removeprefix(_PREFIX).split("-")[0]
    if not number.isdigit():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True

"""Private directories for launches, with paths short enough for a socket."""

import contextlib
import math
import os
import stat
import tempfile
from pathlib import Path

from enfilade.errors import ConfigError, LaunchError
from enfilade.isolation.guardian import PREFIX, is_private
from enfilade.isolation.removal import remove_tree

RUNTIME_VARIABLE = "ENFILADE_RUNTIME_DIR"
"""The variable that names the one place for them."""

PATH_LIMIT = 80
"""Bytes of a directory's path. A socket's path holds 107; its name has up to 17 where go-plugin makes it."""

_START_FIELD = 19
"""Where `/proc/PID/stat` has the start time, counted after the name in parentheses (proc(5): field 22)."""


def make_directory() -> str:
    """Makes a directory that only this user can enter. Its name says which process made it.

    Raises:
        ConfigError: The place that `ENFILADE_RUNTIME_DIR` names does not serve. No other is tried, since whoever names
            one may want its bounds, as of a tmpfs.
        LaunchError: No place gave one of a short enough path; the text names each with its reason.
    """
    refusals = []
    for place in _places():
        if reason := _unusable(place):
            refusals.append(f"{place}: {reason}")
            continue
        try:
            path = tempfile.mkdtemp(prefix=launch_name(), dir=place)
        except OSError as error:
            refusals.append(f"{place}: {error.strerror}")
            continue
        if len(os.fsencode(path)) <= PATH_LIMIT:
            return path
        remove_directory(path)
        refusals.append(f"{place}: its path is over {PATH_LIMIT} bytes")
    if os.environ.get(RUNTIME_VARIABLE):
        raise ConfigError(
            f"{RUNTIME_VARIABLE} does not serve for plugins' private directories (a socket's path holds 107 bytes): "
            f"{refusals[0]}; name a short, writable directory, or leave it out"
        )
    raise LaunchError(
        "no place for a plugin's private directory (a socket's path holds 107 bytes): "
        + "; ".join(refusals)
        + f"; set {RUNTIME_VARIABLE} to a short, writable directory"
    )


def launch_name(rest: str = "") -> str:
    """A name that says which process made what has it, and goes on with the rest."""
    return f"{PREFIX}{os.getpid()}-{_namespace()}-{_start_of(os.getpid())}-{rest}"


def remove_directory(path: str, seconds: float = math.inf) -> bool:
    """Removes a launch's directory with everything in it; leaves any other alone.

    Args:
        path: The directory.
        seconds: When to give up.

    Returns:
        Whether nothing is left to be done.
    """
    return not is_private(path) or remove_tree(path, seconds)


def sweep() -> None:
    """Removes directories of hosts that died without removing them, also of those that were told another place."""
    for place in {*_places(), *_usual_places()}:
        with contextlib.suppress(OSError):
            for entry in Path(place).glob(f"{PREFIX}*-*-*-*"):
                if is_stale(entry):
                    remove_directory(str(entry))


def _places() -> list[str]:
    """Where a directory may be made, the first that serves."""
    named = os.environ.get(RUNTIME_VARIABLE)
    return [named] if named else _usual_places()


def _usual_places() -> list[str]:
    places = [os.environ.get("XDG_RUNTIME_DIR"), "/tmp", "/dev/shm", "/var/tmp", os.environ.get("TMPDIR")]  # noqa: S108 - mkdtemp makes them private
    return list(dict.fromkeys(place for place in places if place))


def _unusable(place: str) -> str:
    if not os.path.isabs(place):  # noqa: PTH117 - a str is what it stays
        return "it is not an absolute path"
    if "," in place or "\n" in place:
        return "its path has a comma or a line end, which a socket's address cannot have"
    return ""


def is_stale(entry: Path) -> bool:
    """Whether the process that made a directory of ours is gone; its name says which it was.

    A number may belong to another process by now, which is told by its start; and to one that cannot be seen from
    here, in another pid namespace that shares the folder: such directories are left alone.
    """
    status = entry.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return False
    number, namespace, start, *_ = entry.name.removeprefix(PREFIX).split("-")
    return number.isdigit() and namespace == _namespace() and start != _start_of(int(number))


def _namespace() -> str:
    """The pid namespace of this process, in short; empty where there are none."""
    try:
        return os.readlink("/proc/self/ns/pid").removeprefix("pid:[").removesuffix("]")  # noqa: PTH115 - it is no path
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """When a process was started, in ticks since the machine was; `gone` for one that is not there."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return "gone" if Path("/proc/self").exists() or not _exists(pid) else ""
    return fields[_START_FIELD]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True

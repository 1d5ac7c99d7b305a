"""Where control groups can be made: in the part of the kernel's tree that was given to this host, if one was.

Version 2 of control groups only. A part is given by whoever manages the tree: a systemd unit with `Delegate=`, which
marks its group, or an operator who names a group in `ENFILADE_CONTROL_GROUP`. To root all of the tree is writable; that
gives nobody the right to it. See the kernel's `admin-guide/cgroup-v2` and systemd's `CGROUP_DELEGATION`.
"""

import contextlib
import errno
import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from enfilade.isolation.directory import is_stale, launch_name
from enfilade.isolation.guardian import PREFIX
from enfilade.isolation.removal import remove_group
from enfilade.isolation.sandbox.control_group import ControlGroup

VARIABLE = "ENFILADE_CONTROL_GROUP"
"""The variable that names a group, by its folder, in which a host may make others."""

LEAF = "enfilade-host"
"""The group into which a host goes that stands where it is to make others: no group has both processes and groups."""

TRIAL_SECONDS = 20.0
TRIAL_MEMORY = 64 * 1024 * 1024
_MARK, _ROOTS_MARK = "user.delegate", "trusted.delegate"
"""What a service manager marks a group with that it gives away; the first can be made by any process of root's."""

_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class ControlTree:
    """Where groups can be made.

    Attributes:
        base: The folder of the group in which; empty where there is none.
        missing: Why there is none.
    """

    base: str = ""
    missing: str = ""


class _MissingError(Exception):
    """There is no such place; the text says why."""


@functools.cache
def control_tree() -> ControlTree:
    """The place, made ready and tried with a throw-away child; blocking, some milliseconds the first time.

    A host that stands in a group that was given to it goes into one below, with all that is there.
    """
    try:
        base = _given()
        _make_ready(base)
        _try(base)
    except _MissingError as error:
        return ControlTree(missing=str(error))
    except OSError as error:
        return ControlTree(missing=f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}")
    return ControlTree(str(base))


def _given() -> Path:
    """The group that was given to this host."""
    if named := os.environ.get(VARIABLE):
        return _with_memory(Path(named))
    if sys.platform != "linux":
        raise _MissingError(f"it needs Linux, and this is {sys.platform}")
    own = _own_group()
    for group in (own, own.parent):
        if _mark(group, _MARK if os.geteuid() else _ROOTS_MARK) == b"1":
            return _with_memory(group)
    _with_memory(own)
    raise _MissingError(
        f"the group {own} was not given to this host; `Delegate=memory pids` in its systemd unit does that, or name "
        f"another in {VARIABLE}"
    )


def _own_group() -> Path:
    """The folder of the group in which this process is."""
    lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    path = next((line[3:] for line in lines if line.startswith("0::")), None)
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        fields, _, kind = line.partition(" - ")
        root, point = fields.split()[3:5]
        if kind.startswith("cgroup2 ") and path is not None and f"{path}/".startswith(f"{root.rstrip('/')}/"):
            return Path(f"{point}{path.removeprefix(root.rstrip('/'))}")
    raise _MissingError("version 2 of control groups is not mounted here")


def _mark(group: Path, name: str) -> bytes:
    try:
        return os.getxattr(group, name)
    except OSError:
        return b""


def _with_memory(group: Path) -> Path:
    if "memory" not in (group / "cgroup.controllers").read_text().split():
        raise _MissingError(
            f"{group} has no memory controller; version 1 of control groups may hold it, or it was not passed down"
        )
    return group


def _make_ready(base: Path) -> None:
    """Passes the controllers down, and removes what hosts left that are gone."""
    _pass_down(base, "+memory")
    with contextlib.suppress(OSError, _MissingError):
        _pass_down(base, "+pids")
    for entry in base.glob(f"{PREFIX}*-*-*-*"):
        with contextlib.suppress(OSError):
            if is_stale(entry):
                remove_group(str(entry))


def _pass_down(base: Path, controller: str) -> None:
    for _ in range(_ROUNDS):  # what is just being started is moved the next time
        try:
            (base / "cgroup.subtree_control").write_text(controller)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or os.environ.get(VARIABLE):
                raise
        _move_down(base)
    raise _MissingError(f"{base} has processes that cannot be moved into a group of their own")


def _move_down(base: Path) -> None:
    """Moves all that is in a group into one below; it was given with them."""
    (base / LEAF).mkdir(exist_ok=True)
    for pid in (base / "cgroup.procs").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            (base / LEAF / "cgroup.procs").write_text(pid)


def _try(base: Path) -> None:
    """Lets a child go into a group and say where it is."""
    group = ControlGroup(str(base / launch_name("trial")), TRIAL_MEMORY)
    group.make()
    try:
        command = group.joined(["/bin/cat", "/proc/self/cgroup"])
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env={}, timeout=TRIAL_SECONDS)
        if not ended.stdout.rstrip().endswith(Path(group.path).name):
            said = " ".join(ended.stderr.split())[-200:] or "it said nothing"
            raise _MissingError(f"a process cannot be put into a group of {base}: {said}")
    except subprocess.TimeoutExpired as error:
        raise _MissingError(f"a process in a group of {base} came to no end: {error}") from None
    finally:
        group.remove()

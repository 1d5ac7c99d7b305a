"""Ends the guests' processes when the host is gone, however it went.

A process of a few megabytes, one a host, run by file: `python -I -S guardian.py`. It reads lines on stdin and, when
they end, kills the groups that are left, and what left its group, and removes their directories and control groups. It
imports nothing but the standard library, and what removes from beside it, and knows nothing of the rest of the house.

- `+ GROUP DIRECTORY`, or `+ GROUP DIRECTORY NUL CONTROL-GROUP`: a guest was started.
- `- GROUP`: nothing is left of it.
- `x GROUP`: it has ended, and its directory is still to be removed, which takes long.
"""

import contextlib
import os
import re
import signal
import sys
from importlib import import_module

MARK = "ENFILADE_GUEST"
"""The variable by which a guest's processes are known even when they left its group: its private directory."""

PREFIX = "enf-"
"""How the names of private directories and control groups begin."""

LOCKS = 10
"""The number of RLIMIT_LOCKS, which the kernel has not looked at since 2.4: a number of our own can stand there."""

_OWN_DIRECTORY = re.compile(rf"/(.*/)?{PREFIX}[0-9]+-[^/]+", re.DOTALL)
_ROUNDS = 5


def main() -> None:
    """Keeps the list until stdin ends, then ends what is on it."""
    groups: dict[int, str] = {}
    for line in sys.stdin.buffer:
        sign, _, rest = os.fsdecode(line.rstrip(b"\n")).partition(" ")
        group, _, place = rest.partition(" ")
        if sign == "+":
            groups[int(group)] = place
        elif sign == "-":
            groups.pop(int(group), None)
        elif sign == "x":
            _bury(groups.pop(int(group), ""))
    for left in groups:
        if left > 1:
            with contextlib.suppress(OSError):  # it has ended by itself
                os.killpg(left, signal.SIGKILL)
    end_strays([place.partition("\0")[0] for place in groups.values()])
    for place in groups.values():
        _remove(*place.partition("\0")[::2])


def _bury(place: str) -> None:
    """Removes what a launch left in a child of ours, for it takes long, and others may be told of meanwhile."""
    if os.fork() == 0:
        _remove(*place.partition("\0")[::2])
        os._exit(0)


def _remove(directory: str, control_group: str) -> None:
    removal = _beside("removal")  # only now: as long as it waits, it shall be small
    if is_private(control_group):
        removal.remove_group(control_group)
    if is_private(directory):
        removal.remove_tree(directory)


def _beside(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a module that is only known by its place
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - it does without pathlib
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)


def is_private(directory: str) -> bool:
    """Whether a path is a launch's private directory or control group: nothing else may be removed, or name a stray."""
    return _OWN_DIRECTORY.fullmatch(directory) is not None


def end_strays(directories: list[str]) -> int:
    """Kills the processes of guests that left their group (a daemon, a session of its own); gives how many.

    They are known by what they inherited: the variable `MARK`, which holds the unique path of a launch's private
    directory, or, where there is a sandbox, `brand` of that path among their limits, which they cannot change. Looks at
    what `/proc` shows, so it finds none where there is no `/proc`, and without a sandbox none that scrubbed its
    environment.
    """
    ended: set[int] = set()
    for _ in range(_ROUNDS):  # one that is just being forked is seen the next time
        found = strays(directories)
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if found <= ended:
            break
        ended |= found
    return len(ended)


def strays(directories: list[str]) -> set[int]:
    """The processes that carry the mark of one of these private directories; never this one, nor what started it."""
    marks = {os.fsencode(f"{MARK}={directory}") for directory in directories if is_private(directory)}
    if not marks:
        return set()
    spared = {0, 1, os.getpid(), os.getppid()}
    brands = {str(brand(directory)).encode() for directory in directories if is_private(directory)}
    return {
        pid
        for pid in _processes()
        if pid not in spared
        and (not marks.isdisjoint(_environment(pid)) or (_brand_of(pid) in brands and not _is_over(pid)))
    }


def brand(directory: str) -> int:
    """A number of 62 bits for a private directory (FNV-1a); it stands as a limit that means nothing else."""
    number = 0xCBF29CE484222325
    for byte in os.fsencode(directory):
        number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return (number >> 3 | 1 << 60) & ((1 << 62) - 1)


def _brand_of(pid: int) -> bytes:
    """What stands as a process's limit of locks; `unlimited` as a rule."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:  # noqa: PTH123 - it does without pathlib
            for line in file:
                if line.startswith(b"Max file locks"):
                    return line.split()[4]
    except OSError:
        pass
    return b""


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - it does without pathlib
    except OSError:
        return []


def _is_over(pid: int) -> bool:
    """Whether it has ended and only waits to be reaped; its limits are shown until then, its environment is not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - it does without pathlib
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def _environment(pid: int) -> list[bytes]:
    """The entries of the environment a process was started with; none for one that has ended or is another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - it does without pathlib
            return file.read().split(b"\0")
    except OSError:
        return []


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that bury
    main()

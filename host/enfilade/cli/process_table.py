"""The processes that run on this machine: the parent and the group of each."""

import contextlib
import os
from pathlib import Path


def processes() -> dict[int, tuple[int, int]]:
    """The parent and the group of every process that runs."""
    if not Path("/proc/self").exists():
        return processes_without_proc()
    found: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended
            state, parent, group = stat.read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
            if state not in "ZX":
                found[int(stat.parent.name)] = int(parent), int(group)
    return found


def processes_without_proc() -> dict[int, tuple[int, int]]:
    """The same where the system keeps it elsewhere, as macOS does."""
    import psutil

    found: dict[int, tuple[int, int]] = {}
    for process in psutil.process_iter(["ppid", "status"]):
        if process.info["status"] not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            with contextlib.suppress(OSError):  # it has ended
                found[process.pid] = process.info["ppid"], os.getpgid(process.pid)
    return found

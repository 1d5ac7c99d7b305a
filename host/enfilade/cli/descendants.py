"""Processes that tools of this process have started and not ended."""

import contextlib
import os
import signal
import time

from enfilade.cli.process_table import processes

_SECONDS = 0.2
_STEP = 0.02


def end_descendants() -> None:
    """Ends those in this process's own group.

    Ctrl-C at a terminal reaches them too; other signals, and Ctrl-C that somebody sends, do not. What has a group of
    its own (plugins, servers, whatever wants to live on) is not touched.
    """
    left = _descendants()
    _signal(left, signal.SIGTERM)
    deadline = time.monotonic() + _SECONDS
    while left and time.monotonic() < deadline:
        time.sleep(_STEP)
        left &= _descendants()
    _signal(left, signal.SIGKILL)


def _descendants() -> set[int]:
    group = os.getpgrp()
    parents = {pid: parent for pid, (parent, its_group) in processes().items() if its_group == group}
    found: set[int] = set()
    fresh = {os.getpid()}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)

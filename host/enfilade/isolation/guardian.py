"""Ends the guests' process groups when the host is gone, however it went.

A process of a few megabytes, one a host, run by file: `python -I -S guardian.py`. It reads lines on stdin
(`+GROUP DIRECTORY`, `-GROUP`) and, when they end, kills the groups that are left and removes their directories.
It imports nothing but the standard library and knows nothing of the rest of the house.
"""

import contextlib
import os
import shutil
import signal
import sys


def main() -> None:
    """Keeps the list until stdin ends, then ends what is on it."""
    groups: dict[int, str] = {}
    for line in sys.stdin:
        sign, _, rest = line.strip().partition(" ")
        group, _, directory = rest.partition(" ")
        if sign == "+":
            groups[int(group)] = directory
        elif sign == "-":
            groups.pop(int(group), None)
    for group, directory in groups.items():
        end(group, directory)


def end(group: int, directory: str) -> None:
    """Kills a group and removes its directory."""
    with contextlib.suppress(OSError):  # it has ended by itself
        os.killpg(group, signal.SIGKILL)
    if directory:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    main()

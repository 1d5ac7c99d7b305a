"""Ends the guests' process groups when the host is gone, however it went.

A process of a few megabytes, one a host, run by file: `python -I -S guardian.py`. It reads lines on stdin
(`+ GROUP DIRECTORY`, `- GROUP`) and, when they end, kills the groups that are left and removes their directories.
It imports nothing but the standard library and knows nothing of the rest of the house.
"""

import contextlib
import os
import signal
import sys


def main() -> None:
    """Keeps the list until stdin ends, then ends what is on it."""
    groups: dict[int, str] = {}
    for line in sys.stdin.buffer:
        sign, _, rest = os.fsdecode(line.rstrip(b"\n")).partition(" ")
        group, _, directory = rest.partition(" ")
        if sign == "+":
            groups[int(group)] = directory
        elif sign == "-":
            groups.pop(int(group), None)
    for left in groups:
        with contextlib.suppress(OSError):  # it has ended by itself
            os.killpg(left, signal.SIGKILL)
    if groups:
        import shutil  # only now: as long as it waits, it shall be small

        for directory in groups.values():
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    main()

"""Which machine and process this is, so that another host can tell whether it still lives."""

import os
import platform
import uuid
from dataclasses import dataclass
from pathlib import Path

import psutil

SAME_START = 2.0
"""Seconds by which two readings of a process's start may differ, for clocks are set right meanwhile."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process, told from a later one of the same number.

    Attributes:
        machine: Names the machine, its boot, and the space in which process numbers count (containers have their own).
        pid: The process's number there.
        began: When it was started, in seconds since 1970.
    """

    machine: str
    pid: int
    began: float

    @classmethod
    def own(cls) -> "ProcessIdentity":
        """This process."""
        return cls(_machine(), os.getpid(), psutil.Process().create_time())

    def is_gone(self) -> bool:
        """Whether the process is known to be over; False for one of another machine, of which nothing is known."""
        if self.machine != _machine():
            return False
        try:
            found = psutil.Process(self.pid)
            return abs(found.create_time() - self.began) > SAME_START or found.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            return False

    @property
    def is_own(self) -> bool:
        """Whether it is this process."""
        return self.machine == _machine() and self.pid == os.getpid()

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is on another machine, so that only its signs of life tell of it."""
        return self.machine != _machine()


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    try:
        return f"{boot.read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux
        return f"{platform.node()} {uuid.getnode():012x}"

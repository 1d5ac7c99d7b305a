"""Which machine and process this is, so that another host can tell whether it still lives."""

import os
import platform
import uuid
from dataclasses import dataclass
from pathlib import Path

SAME_START = 2.0
"""By how much two readings of a process's start may differ where they depend on a clock."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process, told from a later one of the same number.

    Attributes:
        machine: Names the machine, its boot, and the space in which process numbers count (containers have their own).
        pid: The process's number there.
        began: When it was started: in ticks since the boot on Linux, else in seconds since 1970.
    """

    machine: str
    pid: int
    began: float

    @classmethod
    def own(cls) -> "ProcessIdentity":
        """This process."""
        return cls(_machine(), os.getpid(), _began(os.getpid()))

    def is_gone(self) -> bool:
        """Whether the process is known to be over; False for one of another machine, of which nothing is known."""
        if self.machine != _machine():
            return False
        import psutil  # 7 ms, and most commands meet no other host

        try:
            if abs(_began(self.pid) - self.began) > SAME_START:
                return True
            return psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            return False

    @property
    def is_own(self) -> bool:
        """Whether it is this process."""
        return self == ProcessIdentity.own()

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is on another machine, so that only its signs of life tell of it."""
        return self.machine != _machine()


def _began(pid: int) -> float:
    """When a process was started; on Linux by a measure that does not move when the clock is set."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        import psutil

        return psutil.Process(pid).create_time()
    return float(stat.rpartition(")")[2].split()[19])  # field 22 of proc(5), counted behind the name


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    try:
        return f"{boot.read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux
        return f"{platform.node()} {uuid.getnode():012x}"

"""What a test leaves behind: processes, threads, directories, descriptors."""

import asyncio
import gc
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

BOUND = 5.0
"""Seconds in which everything must have been given back."""


@dataclass(frozen=True, slots=True)
class Belongings:
    """What this process has at one moment."""

    processes: Counter[str]
    threads: Counter[str]
    directories: frozenset[str]
    descriptors: Counter[str]

    def beyond(self, other: "Belongings") -> list[str]:
        """What is here and was not there."""
        more = [f"process {name}" for name in self.processes - other.processes]
        more += [f"thread {name}" for name in self.threads - other.threads]
        more += [f"directory {name}" for name in self.directories - other.directories]
        return more + [f"descriptor {name}" for name in self.descriptors - other.descriptors]


def belongings() -> Belongings:
    """What this process has now: children, threads of Python, launch directories, open descriptors by kind."""
    return Belongings(
        Counter(
            name for process in psutil.Process().children(recursive=True) if not _is_server(name := _name(process))
        ),
        Counter(thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_")),
        frozenset(str(path) for place in _places() for path in place.glob(f"enf-{os.getpid()}-*")),
        Counter(_descriptors()),
    )


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Checks that what is done inside leaves nothing behind, some seconds later at the latest."""
    before = belongings()
    yield
    loop = asyncio.get_running_loop()
    deadline = loop.time() + BOUND
    while (left := belongings().beyond(before)) and loop.time() < deadline:
        gc.collect()  # grpc's poller goes with the last of its objects
        await asyncio.sleep(0.02)
    assert not left, f"left behind: {left}"


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def gone(*pids: int, seconds: float = BOUND) -> None:
    """Waits until none of these processes runs any more."""
    async with asyncio.timeout(seconds):
        while any(alive(pid) for pid in pids):  # noqa: ASYNC110 - a foreign process sets no event
            await asyncio.sleep(0.02)


def _places() -> list[Path]:
    return [Path("/tmp"), Path("/dev/shm"), Path("/var/tmp")]


def _is_server(name: str) -> bool:
    """Whether it belongs to the tests' database server, which lives longer than a test and starts what it likes."""
    return " postgres" in name or "/postgres " in name


def _name(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:200]} ({process.status()})"
    except psutil.NoSuchProcess:
        return "ended meanwhile"


def _descriptors() -> list[str]:
    kinds = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names are enough
        try:
            target = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115 - not a path in the end
        except OSError:
            continue
        kinds.append(target.split(":")[0] if ":" in target else target)
    return kinds

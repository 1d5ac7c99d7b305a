"""What one contender is measured by: the same work, in a process that does nothing else."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

QUESTION = "Look up a few words."
LAST_WORD = "word49"
WARM_UP, RUNS, CROWD = 5, 30, 50

Run = Callable[[], Awaitable[str]]
Contender = Callable[[str], AbstractAsyncContextManager[Run]]


def look(word: str) -> str:
    """Looks a word up.

    Args:
        word: The word.
    """
    return f"{word} is a word"


def compete(contender: Contender) -> None:
    """Runs a contender against the model server in `argv[1]` and prints its figures as JSON.

    Args:
        contender: Makes, of a base URL, what asks the question once and gives the answer.
    """
    asyncio.run(_measure(contender))


async def _measure(contender: Contender) -> None:
    async with contender(sys.argv[1]) as run:
        assert LAST_WORD in await run()
        first = time.time() - float(os.environ["STARTED"])
        for _ in range(WARM_UP):
            await run()
        cpu, begun = _cpu_seconds(), time.perf_counter()
        for _ in range(RUNS):
            await run()
        wall, cpu = (time.perf_counter() - begun) / RUNS, (_cpu_seconds() - cpu) / RUNS
        begun = time.perf_counter()
        await asyncio.gather(*(run() for _ in range(CROWD)))
        rate = CROWD / (time.perf_counter() - begun)
        memory = sum(map(_memory, _processes(os.getpid())))
    print(json.dumps({"first": first, "wall": wall, "cpu": cpu, "rate": rate, "memory": memory}))


def _processes(pid: int) -> Iterator[int]:
    """This process and all under it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from _processes(int(child))


def _cpu_seconds() -> float:
    """Of this process to the microsecond, of those under it to the clock's tick."""
    tick = os.sysconf("SC_CLK_TCK")
    children = [pid for pid in _processes(os.getpid()) if pid != os.getpid()]
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in children]
    return time.process_time() + sum(int(of[11]) + int(of[12]) for of in fields) / tick


def _memory(pid: int) -> int:
    """Bytes; what processes share is counted in parts (`Pss`) where that may be read, whole in each where not."""
    proc = Path(f"/proc/{pid}")
    try:
        lines = (proc / "smaps_rollup").read_text().splitlines()
    except PermissionError:
        return int((proc / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))

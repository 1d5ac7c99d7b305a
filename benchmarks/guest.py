"""A guest for the benchmarks, and what it uses."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from enfilade.candidate import Candidate, Offer
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.supervision.guest import Guest
from enfilade.sandboxing import Sandboxing
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.testing import ScriptedHatch, ScriptedModel, ScriptedTools

ROOT = Path(__file__).resolve().parent.parent


class NoHatch(ScriptedHatch):
    """For strategies that ask for nothing."""

    def __init__(self) -> None:
        super().__init__(ScriptedModel(), ScriptedTools({}))


@asynccontextmanager
async def started_guest(sandboxing: Sandboxing | None = None) -> AsyncIterator[Guest]:
    """A guest with the strategies of the benchmarks, ready; confined as plugins are by default, or as is said."""
    launcher = Launcher()
    names = {"one-message": "OneMessage", "flood": "Flood", "forward": "Forward"}
    offers = tuple(Offer(name, f"benchmarks.strategies:{target}") for name, target in names.items())
    candidate = Candidate(
        plugin="benchmarks", offers=offers, paths=(str(ROOT),), python=sys.executable, sandboxing=sandboxing
    )
    guest = launcher.guest(candidate)
    try:
        await guest.describe()
        yield guest
    finally:
        await guest.stop()
        await launcher.close()


def invocation(strategy: str, query: str) -> Invocation:
    """One run of one of them."""
    return Invocation(strategy=strategy, params={"query": query}, run_id="benchmark")


async def read_all(guest: Guest, run: Invocation, hatch: Hatch) -> int:
    """Reads a run to its end; gives the number of its messages."""
    count = 0
    async for _ in guest.run(run, hatch):
        count += 1
    return count


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far, user and system (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    """Resident memory of a process (Linux)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

"""`python -m benchmarks.soak [--seconds N] [--runs N] [--starts N] [--seed N]`: does a host hold out?

Runs are put to two plugins (one with two processes, one with a fresh process for each run) while their processes are
killed and stopped at random and runs are cancelled. Every run must end once, in the right state, and call its tool at
most once; a run that succeeded has called it once and has its own answer. What the host holds must not grow. Then
comes what `--runs` and `--starts` ask for: so many runs on one process, so many starts and stops. Exit code 1 when
anything is not as it must be.
"""

import argparse
import asyncio
import gc
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from benchmarks.guest import resident_bytes
from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate, Offer
from enfilade.config import Config
from enfilade.extensions.loading import Extensions
from enfilade.hookspecs import LauncherKind
from enfilade.host import Host
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.supervision.backoff import CrashPolicy
from enfilade.outcome import Outcome, Status
from enfilade.supervision import Supervision
from enfilade_sdk.errors import ErrorCode

ROOT = Path(__file__).resolve().parent.parent
CALLERS = 8
LONGEST = 30.0
"""Seconds that no run may take: it has its own time and three more."""

SOON = CrashPolicy(first=0.2, longest=2.0, stable=1.0)
"""With the host's own policy a plugin that is killed all the time would wait most of the time."""

MEMORY_GROWTH = 32 * 1024 * 1024
"""Bytes that the host may grow by after it has warmed up."""


@dataclass(slots=True)
class Tally:
    """What was seen."""

    ends: Counter[str] = field(default_factory=Counter)
    harm: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest_end: float = 0.0

    def judge(self, number: str, name: str, outcome: Outcome) -> None:
        """Takes down how a run ended that was not given up, and whether that is right."""
        code = outcome.error.code.value if outcome.error is not None else ""
        self.ends[f"{outcome.status.value} {code}".strip()] += 1
        if outcome.status is Status.SUCCEEDED:
            if self.calls[number] != 1 or not outcome.answer.endswith(f" {number}"):
                self.faults.append(f"{number} on {name} succeeded with {outcome.answer!r}")
        elif code not in (ErrorCode.GUEST_DIED, ErrorCode.DEADLINE):
            message = outcome.error.message if outcome.error is not None else ""
            self.faults.append(f"{number} on {name} is {outcome.status.value} with {code}: {message}")


@dataclass(frozen=True, slots=True)
class Holdings:
    """What this process holds."""

    descriptors: int
    threads: int
    memory: int
    children: int

    @classmethod
    def now(cls) -> "Holdings":
        """At this moment."""
        gc.collect()
        children = len(psutil.Process().children(recursive=True))
        return cls(len(os.listdir("/proc/self/fd")), threading.active_count(), resident_bytes(os.getpid()), children)  # noqa: PTH208

    def grown(self, later: "Holdings") -> list[str]:
        """In what it is more later."""
        grown = []
        if later.descriptors > self.descriptors + 4:
            grown.append(f"descriptors grew from {self.descriptors} to {later.descriptors}")
        if later.threads > self.threads + 4:
            grown.append(f"threads grew from {self.threads} to {later.threads}")
        if later.memory > self.memory + MEMORY_GROWTH:
            grown.append(f"memory grew from {self.memory >> 20} to {later.memory >> 20} MiB")
        return grown


def plugin(name: str, **care: object) -> Candidate:
    """A plugin of the soak's strategy under a name of its own."""
    offers = (Offer(name, "benchmarks.soak_strategies:Steps"),)
    supervision = replace(Supervision(crashes=0, heartbeat=0.5), **care)  # type: ignore[arg-type]
    return Candidate(plugin=name, offers=offers, paths=(str(ROOT),), start_timeout=30, supervision=supervision)


class Soak:
    """One soak.

    Args:
        host: The host.
        tally: What was seen.
        chance: Where chance comes from.
    """

    def __init__(self, host: Host, tally: Tally, chance: random.Random) -> None:
        self._host = host
        self._tally = tally
        self._chance = chance
        self._number = 0
        self.over = asyncio.Event()

    async def caller(self, names: tuple[str, ...]) -> None:
        """Puts one run after another until the soak is over."""
        while not self.over.is_set():
            self._number += 1
            await self.run(self._chance.choice(names), f"run-{self._number}", cancel=self._chance.random() < 0.1)
            await asyncio.sleep(0.01)

    async def run(self, name: str, number: str, *, cancel: bool = False, pause: float = 0.01) -> None:
        """One run, be it given up by its caller, and whether it ended as it must."""
        agent = AgentConfig(strategy=name, tools=("note",), parameters={"pause": pause})
        task = asyncio.ensure_future(self._host.ask(agent, number, timeout=10))
        if cancel:
            await asyncio.wait({task}, timeout=self._chance.random() * 0.1)
            task.cancel()
        began = time.monotonic()
        done, _ = await asyncio.wait({task}, timeout=LONGEST)
        self._tally.slowest_end = max(self._tally.slowest_end, time.monotonic() - began)
        if not done:
            self._tally.faults.append(f"{number} on {name} has not ended")
        elif task.cancelled():
            self._tally.ends["cancelled by its caller"] += 1
        elif (error := task.exception()) is not None:
            self._tally.faults.append(f"{number} on {name} raised {error!r}")
        else:
            self._tally.judge(number, name, task.result())
        if self._tally.calls[number] > 1:
            self._tally.faults.append(f"{number} on {name} called its tool {self._tally.calls[number]} times")
        del self._tally.calls[number]

    async def harm(self) -> None:
        """Kills and stops processes of plugins at random."""
        while not self.over.is_set():
            await asyncio.sleep(self._chance.uniform(0.1, 1.0))
            pids = [process.pid for status in self._host.catalog.statuses() for process in status.processes]
            if pids:
                await self._strike(self._chance.choice(pids))

    async def _strike(self, pid: int) -> None:
        how = self._chance.choices(("SIGKILL", "SIGTERM", "SIGSTOP"), (7, 1, 2))[0]
        try:
            os.kill(pid, signal.Signals[how])
            self._tally.harm[how] += 1
            if how == "SIGSTOP":
                await asyncio.sleep(self._chance.uniform(0.1, 2.0))
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:  # it ended in this moment
            return


def opened(tally: Tally) -> Host:
    """A host of both plugins, whose tool counts its calls."""

    async def note(number: str) -> str:
        """Notes a run's number."""
        tally.calls[number] += 1
        return "noted"

    plugins = [plugin("shared", workers=2), plugin("fresh", scope="run", workers=3, reserve=1), plugin("one")]
    extensions = Extensions()
    kind = LauncherKind("process", "processes that are started again soon", lambda: Launcher(policy=SOON))
    extensions.offer.launchers["process"] = kind
    return Host(Config(), candidates=plugins, tools=[note], extensions=extensions)


async def soak(seconds: float, seed: int) -> Tally:
    """Harms for so long."""
    tally = Tally()
    before = Holdings.now()
    async with opened(tally) as host:
        it = Soak(host, tally, random.Random(seed))
        tasks = [asyncio.ensure_future(it.caller(("shared", "fresh"))) for _ in range(CALLERS)]
        tasks.append(asyncio.ensure_future(it.harm()))
        warm = await _watched(seconds, tally, tasks)
        it.over.set()
        await asyncio.gather(*tasks)
        for name in ("shared", "fresh"):  # whatever was done to them, they serve again
            await it.run(name, f"last-{name}")
        tally.faults += warm.grown(Holdings.now())
    left = Holdings.now()
    if left.children > before.children:
        tally.faults.append(f"{left.children - before.children} processes are left")
    return tally


async def _watched(seconds: float, tally: Tally, tasks: list[asyncio.Task[None]]) -> Holdings:
    """Tells every ten seconds how it stands; gives what was held after a fifth of the time."""
    began = told = time.monotonic()
    warm: Holdings | None = None
    while (past := time.monotonic() - began) < seconds:
        await asyncio.wait(tasks, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
        if warm is None and past > seconds / 5:
            warm = Holdings.now()
        if time.monotonic() - told >= 10:
            told = time.monotonic()
            print(f"{past:5.0f} s  {dict(tally.ends)}  {dict(tally.harm)}  {Holdings.now()}", flush=True)
    return warm or Holdings.now()


async def many_runs(number: int) -> Tally:
    """So many runs on one process."""
    tally = Tally()
    async with opened(tally) as host:
        it = Soak(host, tally, random.Random(0))
        await it.run("one", "first", pause=0)
        before: Holdings | None = None
        for start in range(0, number, 20):
            if before is None and start * 5 >= number:  # by now there are as many threads for tools as ever
                before = Holdings.now()
            await asyncio.gather(*(it.run("one", f"run-{start + n}", pause=0) for n in range(min(20, number - start))))
        served = sum(process.served for status in host.catalog.statuses() for process in status.processes)
        if served != number + 1:
            tally.faults.append(f"{served} runs were served")
        tally.faults += before.grown(Holdings.now()) if before else []
    return tally


async def many_starts(number: int) -> Tally:
    """So many starts and stops."""
    tally = Tally()
    before: Holdings | None = None
    for start in range(number):
        async with opened(tally) as host:
            it = Soak(host, tally, random.Random(0))
            await it.run("one", f"run-{start}", pause=0)
        if start == number // 5:
            before = Holdings.now()
    tally.faults += before.grown(Holdings.now()) if before else []
    return tally


def report(what: str, tally: Tally, seconds: float) -> bool:
    """Prints what was seen; gives whether all is well."""
    print(f"{what}: {sum(tally.ends.values())} runs in {seconds:.0f} s: {dict(tally.ends)}; harm: {dict(tally.harm)}")
    print(f"the longest wait for an end, after a cancel or from the beginning: {tally.slowest_end:.1f} s")
    for fault in tally.faults[:20]:
        print(f"FAULT: {fault}")
    if len(tally.faults) > 20:
        print(f"FAULT: and {len(tally.faults) - 20} more")
    return not tally.faults


def main() -> int:
    """Does what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long processes are killed (60)")
    parser.add_argument("--runs", type=int, default=0, help="then: runs on one process")
    parser.add_argument("--starts", type=int, default=0, help="then: starts and stops")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of chance")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    fine = True
    works: dict[str, tuple[float, Callable[[], Coroutine[None, None, Tally]]]] = {
        "soak": (given.seconds, lambda: soak(given.seconds, given.seed)),
        "runs": (given.runs, lambda: many_runs(given.runs)),
        "starts": (given.starts, lambda: many_starts(given.starts)),
    }
    for what, (wanted, work) in works.items():
        if wanted:
            began = time.monotonic()
            fine = report(what, asyncio.run(work()), time.monotonic() - began) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())

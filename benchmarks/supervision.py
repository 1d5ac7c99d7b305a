"""What looking after processes costs: a run from the reserve, and how soon a death is told."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

from benchmarks.figure import Figure, middle, milliseconds
from benchmarks.guest import ROOT, NoHatch, invocation
from enfilade.candidate import Candidate, Offer
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.supervision.guest import StartedGuest
from enfilade.isolation.supervision.states import State
from enfilade.supervision import Supervision
from enfilade_sdk.errors import GuestDiedError

TRIES = 7
RUNS = 20


async def supervision() -> list[Figure]:
    """Both."""
    return [await _from_the_reserve(), await _deaths()]


async def _from_the_reserve() -> Figure:
    care = Supervision(scope="run", workers=1, reserve=1)
    seconds = []
    async with _guest(care) as guest:
        await guest.describe()
        for _ in range(TRIES):
            await _reserve_is_ready(guest)
            begun = time.perf_counter()
            async with aclosing(guest.run(invocation("one-message", "x"), NoHatch())) as run:
                await anext(run)
                seconds.append(time.perf_counter() - begun)
    value = middle(seconds)
    name = "first message of a run in a fresh process"
    return Figure(name, milliseconds(value), target="10 ms or less", met=value <= 0.010)


async def _deaths() -> Figure:
    seconds = []
    async with _guest(Supervision(crashes=0, heartbeat=0)) as guest:
        for _ in range(TRIES):
            async with AsyncExitStack() as stack:
                runs = [guest.run(invocation("waits", "x"), NoHatch()) for _ in range(RUNS)]
                for run in runs:
                    await stack.enter_async_context(aclosing(run))
                    await anext(run)
                assert guest.pid is not None
                begun = time.perf_counter()
                os.kill(guest.pid, signal.SIGKILL)
                await asyncio.gather(*(_end(run) for run in runs))
                seconds.append(time.perf_counter() - begun)
    value = middle(seconds)
    name = f"all {RUNS} runs of a killed process have failed"
    return Figure(name, milliseconds(value), target="100 ms or less", met=value <= 0.100)


async def _end(run: AsyncIterator[object]) -> None:
    try:
        async for _ in run:
            pass
    except GuestDiedError:
        return


async def _reserve_is_ready(guest: StartedGuest) -> None:
    while not any(process.state is State.READY for process in guest.status().processes):  # noqa: ASYNC110 - no event
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)  # what ended before has been cleared away


@asynccontextmanager
async def _guest(care: Supervision) -> AsyncIterator[StartedGuest]:
    launcher = Launcher()
    names = {"one-message": "OneMessage", "waits": "Waits"}
    offers = tuple(Offer(name, f"benchmarks.strategies:{target}") for name, target in names.items())
    guest = launcher.guest(Candidate(plugin="benchmarks", offers=offers, paths=(str(ROOT),), supervision=care))
    assert isinstance(guest, StartedGuest)
    try:
        yield guest
    finally:
        await guest.stop()
        await launcher.close()

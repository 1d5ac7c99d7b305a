"""Runs that are left without being closed."""

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate
from enfilade.config import Config
from enfilade.host import Host
from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer
from enfilade.outcome import Outcome, Status

WAITS = AgentConfig(strategy="waits")
SECONDS = 20


class Ends(Layer):
    """Notes how runs end."""

    def __init__(self) -> None:
        self.outcomes: asyncio.Queue[Outcome] = asyncio.Queue()

    async def ended(self, context: RunContext, outcome: Outcome) -> None:
        self.outcomes.put_nowait(outcome)


@pytest.fixture
async def complaints() -> AsyncIterator[list[dict[str, Any]]]:
    """What the loop complains of; it has to be nothing."""
    found: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    yield found
    gc.collect()
    await asyncio.sleep(0)
    assert found == []


async def _begin_and_leave(host: Host) -> None:
    async for _ in host.run(WAITS, "?"):
        break


@pytest.mark.usefixtures("complaints")
async def test_a_run_that_is_left_and_dropped_is_cancelled_soon(candidate: Candidate) -> None:
    ends = Ends()
    async with Host(Config(), candidates=[candidate], layers=[ends]) as host:
        await _begin_and_leave(host)
        outcome = await asyncio.wait_for(ends.outcomes.get(), SECONDS)
        assert (outcome.status, outcome.text) == (Status.CANCELLED, "waiting")
        assert (await host.ask(AgentConfig(strategy="echo"), "ahoy")).status is Status.SUCCEEDED


@pytest.mark.usefixtures("complaints")
async def test_a_run_that_is_left_in_a_circle_is_cancelled_when_it_is_collected(candidate: Candidate) -> None:
    ends = Ends()
    async with Host(Config(), candidates=[candidate], layers=[ends]) as host:
        held: list[Any] = []
        held.extend((held, run := host.run(WAITS, "?")))
        await anext(aiter(run))
        del held, run
        gc.collect()
        outcome = await asyncio.wait_for(ends.outcomes.get(), SECONDS)
        assert (outcome.status, outcome.text) == (Status.CANCELLED, "waiting")


@pytest.mark.usefixtures("complaints")
async def test_runs_that_are_still_held_end_with_their_host(candidate: Candidate) -> None:
    ends = Ends()
    async with Host(Config(), candidates=[candidate], layers=[ends]) as host:
        left, never_read = host.run(WAITS, "?"), host.run(WAITS, "?")
        await anext(aiter(left))
    for run, text in ((left, "waiting"), (never_read, "")):
        assert run.outcome is not None
        assert (run.outcome.status, run.outcome.text) == (Status.CANCELLED, text)
    assert ends.outcomes.get_nowait() is left.outcome

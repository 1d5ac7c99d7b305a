"""An agent's run of five rounds: the isolated strategy beside a hand-written loop on the openai client."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import openai

from benchmarks.figure import Figure, middle, milliseconds
from benchmarks.guest import cpu_seconds
from benchmarks.model_server import DELTAS, ROUNDS, model_server, script
from benchmarks.peers.contender import QUESTION, look
from benchmarks.peers.hand_written import hand_written
from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.host import Host
from enfilade.models.settings import ModelSettings
from enfilade.tools.entry import ToolEntry

RUNS = 30
CROWD = 50


@dataclass(slots=True)
class Side:
    """One of the two sides: how to run it once, and the CPU its processes have used."""

    run: Callable[[], Awaitable[Any]]
    cpu: Callable[[], float]


async def agent_run() -> list[Figure]:
    """Alone and fifty at once."""
    with model_server(script()) as url:
        settings = ModelSettings(name="bench", base_url=url)
        config = Config(models={"bench": settings}, default_model="bench")
        agent = AgentConfig(strategy="function-calling", tools=(ToolEntry(tool=look),))
        async with Host(config) as host, openai.AsyncOpenAI(base_url=url, api_key="none") as client:
            (await host.ask(agent, QUESTION)).raise_for_error()
            await hand_written(client)
            pid = await _guest_pid(host)
            ours = Side(lambda: host.ask(agent, QUESTION), lambda: time.process_time() + cpu_seconds(pid))
            theirs = Side(lambda: hand_written(client), time.process_time)
            return [*await _alone(ours, theirs), *await _together(ours, theirs)]


async def _guest_pid(host: Host) -> int:
    admitted = await host.open("function-calling")
    return int(getattr(admitted.runner, "pid", 0))


async def _alone(ours: Side, theirs: Side) -> list[Figure]:
    wall: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for _ in range(3):
        for place, side in enumerate((ours, theirs)):
            used = side.cpu()
            for _ in range(RUNS):
                begun = time.perf_counter()
                await side.run()
                wall[place].append(time.perf_counter() - begun)
            cpu[place].append((side.cpu() - used) / RUNS)
    return [_beside("time", wall, "alone"), _beside("CPU, all processes", cpu, "alone")]


def _beside(what: str, values: tuple[list[float], list[float]], how: str) -> Figure:
    ours, theirs = middle(values[0]), middle(values[1])
    name = f"FC run of {ROUNDS} rounds, {DELTAS} deltas, {how}: {what}"
    beside = f"openai loop: {milliseconds(theirs)}"
    return Figure(name, milliseconds(ours), beside, ours / theirs, "0.5 or less (0.4)", ours / theirs <= 0.5)


async def _together(ours: Side, theirs: Side) -> list[Figure]:
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(3):
        for place, side in enumerate((ours, theirs)):
            begun = time.perf_counter()
            await asyncio.gather(*(side.run() for _ in range(CROWD)))
            rates[place].append(CROWD / (time.perf_counter() - begun))
    mine, other = middle(rates[0]), middle(rates[1])
    beside = f"openai loop: {other:.1f} runs/s"
    ratio = mine / other
    return [
        Figure(
            f"the same, {CROWD} at once: throughput", f"{mine:.1f} runs/s", beside, ratio, "2 or more (3)", ratio >= 2
        )
    ]

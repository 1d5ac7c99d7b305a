"""What layers and records add to an agent's run of five rounds: the same run on several hosts, in turns.

One host has no layers, one has five, one has five and records to a SQLite file, and one has a quota besides that counts
in that file. Each has a guest of its own. They take turns run by run, and each run is compared with the one that the
bare host made in the same turn, so that what the machine does besides falls on all alike.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.figure import HEADER, Figure, middle, milliseconds
from benchmarks.model_server import DELTAS, ROUNDS, model_server, script
from benchmarks.peers.contender import QUESTION, look
from enfilade.agent import AgentConfig
from enfilade.config import Config, LayerSettings, StoreSection
from enfilade.host import Host
from enfilade.models.settings import ModelSettings
from enfilade.tools.entry import ToolEntry

RUNS = 120
"""Runs of each host; single ones differ by half, so that a median needs many."""

PAUSE = 0.035
"""Seconds after each run, in which its last batch is written: that counts as the run's CPU, and as nobody's time."""

AIM = 1.10

FIVE = tuple(
    LayerSettings.model_validate(entry)
    for entry in (
        {"kind": "limits"},
        {"kind": "retry"},
        {"kind": "repetition"},
        {"kind": "approval", "tools": ["delete_*"]},
        {"kind": "costs"},
    )
)
QUOTA = LayerSettings.model_validate({"kind": "quota", "tokens": 10**12, "window": 3600})
AGENT = AgentConfig(strategy="function-calling", tools=(ToolEntry(tool=look),))


@dataclass(slots=True)
class Side:
    """One host: how to run it once, and what its runs took.

    Attributes:
        run: Runs it once.
        wall: Seconds of each run.
        cpu: Seconds of this process's CPU for each run, with what is written after it.
    """

    run: Callable[[], Awaitable[object]]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    async def measure(self) -> None:
        """Runs it once and counts."""
        spent, begun = time.process_time(), time.perf_counter()
        await self.run()
        self.wall.append(time.perf_counter() - begun)
        await asyncio.sleep(PAUSE)
        self.cpu.append(time.process_time() - spent)


async def overhead() -> list[Figure]:
    """Five layers, and five layers and recording, beside no layers."""
    with tempfile.TemporaryDirectory() as folder, model_server(script()) as url:
        store = StoreSection.model_validate({"url": f"sqlite:///{folder}/records.db"})
        models = {"bench": ModelSettings(name="bench", base_url=url)}
        base = Config(models=models, default_model="bench", layers=())
        layered = base.model_copy(update={"layers": FIVE})
        stored = layered.model_copy(update={"store": store})
        counted = stored.model_copy(update={"layers": (QUOTA, *FIVE)})
        async with sides([base, layered, stored, counted]) as measured:
            for number in range(RUNS):
                for side in measured if number % 2 else reversed(measured):
                    await side.measure()
        bare, five, recorded, quota = measured
        return [
            _beside("five layers: time", five.wall, bare.wall),
            _beside("five layers and recording: time", recorded.wall, bare.wall, AIM),
            _beside("the same and a quota that counts in the store: time", quota.wall, bare.wall),
            _beside("five layers and recording: the host's CPU, writing included", recorded.cpu, bare.cpu),
        ]


@asynccontextmanager
async def sides(configs: Sequence[Config]) -> AsyncIterator[list[Side]]:
    """A host for each configuration, warm."""
    async with AsyncExitStack() as stack:
        hosts = [await stack.enter_async_context(Host(config)) for config in configs]
        for host in hosts:
            for _ in range(5):
                (await host.ask(AGENT, QUESTION)).raise_for_error()
        yield [Side(_asking(host)) for host in hosts]


def _asking(host: Host) -> Callable[[], Awaitable[object]]:
    return lambda: host.ask(AGENT, QUESTION)


def _beside(what: str, ours: Sequence[float], bare: Sequence[float], aim: float | None = None) -> Figure:
    ratio = middle([mine / other for mine, other in zip(ours, bare, strict=True)])
    return Figure(
        f"FC run of {ROUNDS} rounds, {DELTAS} deltas, with {what}",
        milliseconds(middle(ours)),
        f"without: {milliseconds(middle(bare))}",
        ratio,
        "" if aim is None else f"{aim:.2f} or less",
        None if aim is None else ratio <= aim,
    )


if __name__ == "__main__":
    print(HEADER)
    for figure in asyncio.run(overhead()):
        print(figure.row())

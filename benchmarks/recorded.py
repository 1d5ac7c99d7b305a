"""Many recorded runs: 200 at once beside the ideal, and memory over 10,000 one after another.

`python -m benchmarks.recorded`
"""

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.crowd import CHUNKS, GAP, IDEAL
from benchmarks.figure import HEADER, Figure, middle
from enfilade.outcome import Status
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from enfilade_sdk.messages import text_message
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelRequest,
    ModelResult,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)

CROWD = 200
CROWD_AIM = 1.10
RUNS = 10_000
WARM = 1_000
"""Runs after which pools and caches have their size."""

GROWTH_MB = 8.0
"""What the process may grow from there: nothing a run, so a small sum for what the allocator keeps."""

ASKED = ModelRequest((UserMessage(content="Low water at Oban?"),))
SAID = ModelResult(AssistantMessage(content="At ten past two."), usage=Usage(prompt_tokens=120, completion_tokens=9))


async def recorded() -> list[Figure]:
    """Both."""
    with tempfile.TemporaryDirectory() as folder:
        settings = StoreSettings(url=f"sqlite:///{folder}/records.db")
        async with await Store.open(settings) as store:
            return [await _crowd(store), await _memory(store)]


async def _crowd(store: Store) -> Figure:
    seconds = []
    for turn in range(3):
        begun = time.perf_counter()
        await asyncio.gather(*(_slow_run(store, f"crowd-{turn}-{number}") for number in range(CROWD)))
        await store.records.flush()
        seconds.append(time.perf_counter() - begun)
    ratio = middle(seconds) / IDEAL
    name = f"{CROWD} runs at once, {CHUNKS} chunks each, recorded to SQLite (no guests)"
    value, beside = f"{middle(seconds):.3f} s", f"ideal: {IDEAL:.1f} s"
    return Figure(name, value, beside, ratio, f"{CROWD_AIM:.2f} or less", ratio <= CROWD_AIM)


async def _slow_run(store: Store, run_id: str) -> None:
    """A run whose model gives a chunk each 50 ms, by the clock and not by adding up sleeps."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    record = await store.records.run_began(RunStart(run_id, "fc", "Low water at Oban?"))
    entry = await record.model_began(ASKED, model="large")
    for number in range(1, CHUNKS + 1):
        await asyncio.sleep(max(0.0, begun + number * GAP - loop.time()))
        await record.event(text_message("token ", meta={"round": 1}))
    entry.ended(SAID)
    record.ended(Status.SUCCEEDED, answer="At ten past two.")


async def _memory(store: Store) -> Figure:
    before = 0
    for number in range(RUNS):
        if number == WARM:
            before = _resident()
        await _quick_run(store, f"run-{number}")
    await store.records.flush()
    grown = (_resident() - before) / 1e6
    name = f"resident memory, from recorded run {WARM:,} to {RUNS:,}"
    return Figure(name, f"{grown:+.1f} MB", target=f"{GROWTH_MB:.0f} MB or less", met=grown <= GROWTH_MB)


async def _quick_run(store: Store, run_id: str) -> None:
    record = await store.records.run_began(RunStart(run_id, "fc", "Low water at Oban?", user_id="ada"))
    entry = await record.model_began(ASKED, model="large")
    entry.ended(SAID)
    (await record.tool_began(ToolRequest("tide", {"port": "Oban"}, "c1"))).ended(ToolResult("low water 14:10"))
    await record.event(text_message("At ten past two."))
    record.ended(Status.SUCCEEDED, answer="At ten past two.")
    await asyncio.sleep(0)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


if __name__ == "__main__":
    print(HEADER)
    for figure in asyncio.run(recorded()):
        print(figure.row())

"""Many runs at once on one guest, beside the ideal."""

import asyncio
import time
from collections.abc import AsyncGenerator

from benchmarks.figure import Figure, middle
from benchmarks.guest import NoHatch, invocation, read_all, started_guest
from enfilade_sdk.prompts import AssistantMessage, ModelChunk, ModelRequest, ModelResult

CHUNKS = 20
GAP = 0.05
IDEAL = CHUNKS * GAP
AIMS = {1: None, 50: None, 200: 1.05, 500: 1.15}


class _SlowModel(NoHatch):
    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Twenty chunks, one each 50 ms, by the clock and not by adding up sleeps."""
        del request
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number in range(1, CHUNKS + 1):
            await asyncio.sleep(max(0.0, begun + number * GAP - loop.time()))
            yield ModelChunk(text="token ")
        yield ModelResult(AssistantMessage(content=""))


async def crowd() -> list[Figure]:
    """1, 50, 200, 500 runs at once."""
    figures = []
    async with started_guest() as guest:
        await read_all(guest, invocation("one-message", "warm"), NoHatch())
        for runs, aim in AIMS.items():
            seconds = []
            for _ in range(3):
                begun = time.perf_counter()
                await asyncio.gather(*(read_all(guest, invocation("forward", "go"), _SlowModel()) for _ in range(runs)))
                seconds.append(time.perf_counter() - begun)
            ratio = middle(seconds) / IDEAL
            target = f"{aim:.2f} or less" if aim else ""
            met = ratio <= aim if aim else None
            value = f"{middle(seconds):.3f} s"
            figures.append(Figure(f"{runs} runs at once", value, f"ideal: {IDEAL:.1f} s", ratio, target, met))
    return figures

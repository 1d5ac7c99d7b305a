"""How late a token is at the caller, and what it costs, when twenty models stream at once."""

import asyncio
import time
from collections.abc import AsyncGenerator

from benchmarks.figure import Figure, middle, milliseconds
from benchmarks.guest import NoHatch, cpu_seconds, invocation, started_guest
from enfilade.isolation.supervision.guest import Guest, StartedGuest
from enfilade_sdk.prompts import AssistantMessage, ModelChunk, ModelRequest, ModelResult

STREAMS = 20
TOKENS = 400
GAP = 1 / 200


class _ClockedModel(NoHatch):
    """Two hundred tokens a second; writes down when each left."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[float] = []

    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """The tokens, by the clock."""
        del request
        begun = time.perf_counter()
        for number in range(1, TOKENS + 1):
            await asyncio.sleep(max(0.0, begun + number * GAP - time.perf_counter()))
            self.left.append(time.perf_counter())
            yield ModelChunk(text="token ")
        yield ModelResult(AssistantMessage(content=""))


async def token_lag() -> list[Figure]:
    """The lag's median, and CPU over both processes by token."""
    async with started_guest() as guest:
        pid = guest.pid if isinstance(guest, StartedGuest) and guest.pid is not None else 0
        used = time.process_time() + cpu_seconds(pid)
        lags = await asyncio.gather(*(_lags(guest) for _ in range(STREAMS)))
        cost = (time.process_time() + cpu_seconds(pid) - used) / (STREAMS * TOKENS)
    lag = middle([value for stream in lags for value in stream])
    rate = f"{STREAMS} streams of {1 / GAP:.0f} tokens a second"
    return [
        Figure(f"token lag, {rate}", milliseconds(lag), target="3 ms or less", met=lag <= 0.003),
        Figure("CPU a token at that pace (a frame each), both processes", f"{cost * 1e6:.0f} us"),
    ]


async def _lags(guest: Guest) -> list[float]:
    model = _ClockedModel()
    lags: list[float] = []
    async for _ in guest.run(invocation("forward", "go"), model):
        lags.append(time.perf_counter() - model.left[len(lags)])
    return lags

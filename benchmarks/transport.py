"""The way between host and guest, beside bare gRPC."""

import time
from collections.abc import AsyncGenerator
from typing import Any

from benchmarks.bare import bare_stub
from benchmarks.figure import Figure, middle, milliseconds
from benchmarks.guest import NoHatch, cpu_seconds, invocation, read_all, resident_bytes, started_guest
from enfilade.isolation.supervision.guest import StartedGuest
from enfilade_sdk.prompts import AssistantMessage, ModelChunk, ModelRequest, ModelResult
from enfilade_wire.v1 import strategy_pb2 as pb

MESSAGES = 100_000
CHUNKS = 20_000
RUNS = 500


async def start_and_memory() -> list[Figure]:
    """Spawn to ready, resident memory when ready."""
    seconds, sizes = [], []
    for _ in range(7):
        begun = time.perf_counter()
        async with started_guest() as guest:
            seconds.append(time.perf_counter() - begun)
            if isinstance(guest, StartedGuest) and guest.pid is not None:
                sizes.append(resident_bytes(guest.pid) / 1e6)
    ready, size = middle(seconds), middle(sizes)
    return [
        Figure("spawn to ready", milliseconds(ready), target="350 ms or less", met=ready <= 0.35),
        Figure("resident memory of a ready guest", f"{size:.1f} MB", target="45 MB or less", met=size <= 45),
    ]


async def one_message() -> list[Figure]:
    """A one-message run on a warm guest, beside a round trip on an open stream."""
    ours, bare = [], []
    async with started_guest() as guest, bare_stub() as stub:
        call = stub.Run()
        start = pb.HostFrame(items=[pb.HostItem(start=pb.Start(run_id="1"))])
        for number in range(RUNS + 50):
            begun = time.perf_counter()
            await call.write(start)
            await call.read()
            between = time.perf_counter()
            await read_all(guest, invocation("one-message", "hello"), NoHatch())
            if number >= 50:
                bare.append(between - begun)
                ours.append(time.perf_counter() - between)
        call.cancel()
    ratio = middle(ours) / middle(bare)
    beside = f"round trip on an open stream: {milliseconds(middle(bare))}"
    return [Figure("one-message run", milliseconds(middle(ours)), beside, ratio, "2.5 or less", ratio <= 2.5)]


async def many_messages() -> list[Figure]:
    """A flood of small messages, beside gRPC with one item a message."""
    ours, bare = [], []
    async with started_guest() as guest, bare_stub() as stub:
        for _ in range(3):
            begun = time.perf_counter()
            await read_all(guest, invocation("flood", str(MESSAGES)), NoHatch())
            ours.append(MESSAGES / (time.perf_counter() - begun))
            bare.append(await _bare_messages(stub))
    ratio = middle(ours) / middle(bare)
    beside = f"one item a message: {middle(bare):,.0f}/s"
    value = f"{middle(ours):,.0f}/s"
    return [Figure(f"{MESSAGES:,} small messages", value, beside, ratio, "6 or more", ratio >= 6)]


async def _bare_messages(stub: Any) -> float:
    call = stub.Run()
    begun = time.perf_counter()
    await call.write(pb.HostFrame(items=[pb.HostItem(start=pb.Start(run_id=str(MESSAGES // 5)))]))
    for _ in range(MESSAGES // 5):
        await call.read()
    seconds = time.perf_counter() - begun
    call.cancel()
    return MESSAGES / 5 / seconds


class _Chunks(NoHatch):
    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """As many chunks as there are to forward."""
        del request
        chunk = ModelChunk(text="token ")
        for _ in range(CHUNKS):
            yield chunk
        yield ModelResult(AssistantMessage(content=""))


async def forwarded_chunks() -> list[Figure]:
    """Model chunks from the host through a guest and back."""
    rates, costs = [], []
    async with started_guest() as guest:
        pid = guest.pid if isinstance(guest, StartedGuest) and guest.pid is not None else 0
        for _ in range(5):
            begun, used = time.perf_counter(), time.process_time() + cpu_seconds(pid)
            await read_all(guest, invocation("forward", "go"), _Chunks())
            rates.append(CHUNKS / (time.perf_counter() - begun))
            costs.append((time.process_time() + cpu_seconds(pid) - used) / CHUNKS)
    rate, cost = middle(rates), middle(costs)
    return [
        Figure(f"{CHUNKS:,} forwarded chunks", f"{rate:,.0f}/s", target="30,000/s or more", met=rate >= 30_000),
        Figure(
            "CPU a streamed token, both processes", f"{cost * 1e6:.0f} us", target="35 us or less", met=cost <= 35e-6
        ),
    ]

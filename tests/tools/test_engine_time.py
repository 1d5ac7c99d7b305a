"""The engine's clock: tools that are slow, that are stopped, that will not stop, and many at once."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing

import pytest

from enfilade.tools.entry import ToolEntry
from enfilade.tools.limits import ToolLimits
from enfilade_sdk.prompts import ToolRequest, ToolResult
from tests.support.tool_calls import ForeignTool, call, call_once, engine_of

BRIEF = ToolLimits(timeout=0.2, grace=0.2)


async def until(true: Callable[[], bool]) -> None:
    """Waits for what another thread or task is about to do; the test's own time limit bounds it."""
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - threads set no asyncio.Event
            await asyncio.sleep(0.002)


async def test_an_async_tool_is_stopped_when_its_time_is_up() -> None:
    stopped = asyncio.Event()

    async def sleeper() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return "never"

    done = await call_once(sleeper, limits=BRIEF)
    assert done.text == "the tool sleeper did not end within 0.2 s and was stopped; ask it for less, or go another way"
    assert done.result.details["code"] == "deadline"
    assert stopped.is_set()
    assert 0.2 <= done.result.seconds < 2


async def test_a_blocking_tool_is_abandoned_counted_and_forgotten_when_it_ends() -> None:
    go_on = threading.Event()

    def sleeper() -> None:
        go_on.wait(30)

    async with engine_of(sleeper, limits=BRIEF) as engine:
        done = await call(engine, "sleeper")
        assert done.result.details["code"] == "deadline"
        assert engine.abandoned == 1
        go_on.set()
        await until(lambda: engine.abandoned == 0)


async def test_the_entrys_time_wins_over_the_tools_and_that_over_the_engines() -> None:
    async def sleeper() -> None:
        await asyncio.sleep(60)

    foreign = ForeignTool("t", timeout=0.05)
    assert foreign.timeout == 0.05
    done = await call_once(ToolEntry(tool=sleeper, timeout=0.05, required=True), limits=ToolLimits(timeout=50))
    assert "within 0.05 s" in done.text


async def test_what_came_before_the_time_was_up_is_kept() -> None:
    async def half() -> AsyncIterator[str]:
        yield "the first half"
        await asyncio.sleep(60)

    done = await call_once(half, limits=BRIEF)
    assert done.shown == "the first half"
    assert done.text.endswith("before that it gave:\nthe first half")


async def test_a_slow_reader_costs_the_tool_no_time() -> None:
    async def quick() -> AsyncIterator[str]:
        for number in range(20):
            yield str(number)

    async with engine_of(quick, limits=BRIEF) as engine, aclosing(engine.invoke(ToolRequest("quick", "{}"))) as items:
        got = []
        async for item in items:
            await asyncio.sleep(0.02)  # 0.4 s in all, twice what the tool has
            got.append(item)
    assert len(got) == 21
    assert isinstance(got[-1], ToolResult)
    assert not got[-1].is_error


async def test_a_tool_is_never_far_ahead_of_its_reader() -> None:
    made = 0

    async def busy() -> AsyncIterator[str]:
        nonlocal made
        while True:
            made += 1
            yield "x"

    async with engine_of(busy) as engine, aclosing(engine.invoke(ToolRequest("busy", "{}"))) as items:
        for _ in range(10):
            await anext(items)
        await asyncio.sleep(0.02)
    assert made < 20


async def test_closing_the_stream_stops_the_tool() -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield "x"
                await asyncio.sleep(0)
        finally:
            ended.set()

    async with engine_of(endless) as engine:
        async with aclosing(engine.invoke(ToolRequest("endless", "{}"))) as items:
            await anext(items)
        assert ended.is_set()
        assert engine.abandoned == 0


async def test_cancelling_the_reader_stops_the_tool_and_is_passed_on() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def sleeper() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with engine_of(sleeper) as engine:
        reader = asyncio.create_task(call(engine, "sleeper"))
        await started.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert ended.is_set()


async def test_closing_the_stream_closes_a_plain_generator_in_its_thread() -> None:
    ended = threading.Event()

    def endless() -> Iterator[str]:
        try:
            while True:
                yield "x"
        finally:
            ended.set()

    async with engine_of(endless) as engine:
        async with aclosing(engine.invoke(ToolRequest("endless", "{}"))) as items:
            await anext(items)
        await until(ended.is_set)
        await until(lambda: engine.abandoned == 0)


async def test_forty_stopped_calls_leave_nothing_behind() -> None:
    ended = []

    def ticking() -> Iterator[str]:
        try:
            while True:
                yield "x"
        finally:
            ended.append(1)

    async with engine_of(ticking, threads=4) as engine:
        for _ in range(40):
            async with aclosing(engine.invoke(ToolRequest("ticking", "{}"))) as items:
                for _ in range(3):
                    await anext(items)
        await until(lambda: len(ended) == 40)
        await until(lambda: engine.abandoned == 0)


async def test_a_tool_that_will_not_stop_is_left_to_itself_and_their_number_is_bounded() -> None:
    go_on = asyncio.Event()

    async def stubborn() -> None:
        while not go_on.is_set():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await go_on.wait()

    limits = ToolLimits(timeout=0.05, grace=0.05, strays=2)
    async with engine_of(stubborn, limits=limits) as engine:
        for _ in range(2):
            assert (await call(engine, "stubborn")).result.details["code"] == "deadline"
        refused = await call(engine, "stubborn")
        assert refused.result.details["code"] == "limit_exceeded"
        assert "2 calls were stopped and have not ended: stubborn (2)" in refused.text
        go_on.set()
        await until(lambda: engine.abandoned == 0)
        assert (await call(engine, "stubborn")).result.is_error is False


async def test_when_every_thread_is_held_by_calls_without_end_that_is_said_at_once() -> None:
    go_on = threading.Event()

    def sleeper() -> None:
        go_on.wait(30)

    def quick() -> str:
        return "quick"

    async with engine_of(sleeper, quick, limits=BRIEF, threads=2) as engine:
        await asyncio.gather(call(engine, "sleeper"), call(engine, "sleeper"))
        refused = await call(engine, "quick")
        assert refused.result.details["code"] == "limit_exceeded"
        assert (
            "all 2 threads for tools are held by calls that were given up and never ended: sleeper (2)" in refused.text
        )
        assert refused.result.seconds < 0.2
        go_on.set()
        await until(lambda: engine.abandoned == 0)
        assert (await call(engine, "quick")).text == "quick"


async def test_calls_wait_for_a_thread_to_come_free() -> None:
    def which() -> str:
        return threading.current_thread().name

    async with engine_of(which, threads=2) as engine:
        done = await asyncio.gather(*(call(engine, "which") for _ in range(50)))
    assert all(not one.result.is_error for one in done)


async def test_one_failing_call_loses_no_others_result() -> None:
    async def mixed(n: int) -> str:
        await asyncio.sleep(0.01)
        if n == 3:
            raise RuntimeError("three")
        return str(n)

    async with engine_of(mixed) as engine:
        done = await asyncio.gather(*(call(engine, "mixed", {"n": n}) for n in range(6)))
    assert [one.text for one in done] == ["0", "1", "2", "the tool mixed failed: RuntimeError: three", "4", "5"]

"""A call as a strategy holds it: awaited or blocking, read to its end, left, given up."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from enfilade_sdk.call import Call
from enfilade_sdk.errors import InternalError, ProtocolError, RunCancelled, ToolFailedError


class Result:
    """The end of a call."""


class Source:
    """Gives numbers and then a result; notes whether it was closed."""

    def __init__(self, number: int = 3, *, fails: bool = False, hangs: bool = False, cut: bool = False) -> None:
        self.result = Result()
        self.closed = False
        self._number, self._fails, self._hangs, self._cut = number, fails, hangs, cut

    async def stream(self) -> AsyncGenerator[int | Result, None]:
        try:
            for number in range(self._number):
                yield number
            if self._hangs:
                await asyncio.Event().wait()
            if self._fails:
                raise ToolFailedError("no")
            if not self._cut:
                yield self.result
        finally:
            self.closed = True

    def call(self) -> Call[int, Result]:
        return Call(self.stream(), Result, asyncio.get_running_loop())


async def in_thread(work: Any, *arguments: Any) -> Any:
    return await asyncio.wait_for(asyncio.to_thread(work, *arguments), 5)


async def test_items_come_and_then_the_result() -> None:
    source = Source()
    call = source.call()
    assert [item async for item in call] == [0, 1, 2]
    assert await call is source.result
    assert await call is source.result  # as often as it is asked


async def test_awaiting_passes_over_the_items() -> None:
    source = Source()
    assert await source.call() is source.result


async def test_a_blocking_call_gives_the_same() -> None:
    source = Source(1000)
    call = source.call()
    assert await in_thread(list, call) == list(range(1000))
    assert await in_thread(call.result) is source.result


async def test_a_blocking_call_may_be_left_and_taken_up_again() -> None:
    source = Source(10)
    call = source.call()

    def work() -> list[int]:
        got = []
        for item in call:
            got.append(item)
            if len(got) == 4:
                break
        got.extend(call)
        return got

    assert await in_thread(work) == list(range(10))
    assert await in_thread(call.result) is source.result


@pytest.mark.parametrize("form", ["awaited", "blocking"])
async def test_a_failure_is_raised_after_the_items(form: str) -> None:
    source = Source(fails=True)
    call = source.call()
    got: list[int] = []

    def work() -> None:
        got.extend(call)

    with pytest.raises(ToolFailedError, match="no"):
        if form == "awaited":
            async for item in call:
                got.append(item)  # noqa: PERF401 - what came before the failure counts
        else:
            await in_thread(work)
    assert got in ([0, 1, 2], [])  # extend keeps nothing of an iteration that failed
    assert source.closed


@pytest.mark.parametrize("form", ["awaited", "blocking"])
async def test_a_call_without_a_result_is_an_error(form: str) -> None:
    call = Source(cut=True).call()
    with pytest.raises(ProtocolError, match="a call ended without a result"):
        if form == "awaited":
            await call
        else:
            await in_thread(call.result)


async def test_closing_a_call_closes_its_source_and_what_follows_is_told() -> None:
    source = Source(hangs=True)
    call = source.call()
    assert await anext(call) == 0
    await call.aclose()
    assert source.closed
    with pytest.raises(RunCancelled):
        await call
    await call.aclose()


async def test_closing_a_call_that_never_went_out_opens_nothing() -> None:
    source = Source()
    await source.call().aclose()
    assert not source.closed  # it never ran


async def test_whoever_waits_for_a_call_that_is_given_up_is_told_and_not_cancelled() -> None:
    source = Source(hangs=True)
    call = source.call()
    waiting = asyncio.ensure_future(call._awaited())  # noqa: SLF001 - a coroutine, as tasks want one
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(RunCancelled, match="the run or the call was cancelled"):
        await asyncio.wait_for(waiting, 1)
    assert not waiting.cancelled()
    assert source.closed


async def test_a_task_that_is_cancelled_while_it_waits_is_cancelled() -> None:
    source = Source(hangs=True)
    call = source.call()
    waiting = asyncio.ensure_future(call._awaited())  # noqa: SLF001 - as above
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert source.closed


async def test_a_time_out_around_a_call_is_a_time_out() -> None:
    source = Source(hangs=True)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await source.call()
    assert source.closed


async def test_a_blocking_call_that_is_given_up_wakes_its_thread_at_once() -> None:
    source = Source(hangs=True)
    call = source.call()
    working = asyncio.ensure_future(in_thread(call.result))
    await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(RunCancelled):
        await asyncio.wait_for(working, 1)
    await call.aclose()
    assert source.closed


async def test_a_blocking_call_that_was_given_up_before_is_refused() -> None:
    call = Source().call()
    call.cancel()
    with pytest.raises(RunCancelled):
        await in_thread(call.result)


async def test_a_result_that_is_there_outlives_the_cancel() -> None:
    source = Source()
    call = source.call()
    await call
    call.cancel()
    assert await call is source.result
    assert await in_thread(call.result) is source.result


async def test_a_source_that_cannot_be_closed_quietly_is_closed_all_the_same() -> None:
    async def loud() -> AsyncGenerator[int | Result, None]:
        try:
            yield 1
            yield Result()
        finally:
            raise ValueError("on the way out")

    call: Call[int, Result] = Call(loud(), Result, asyncio.get_running_loop())
    assert await anext(call) == 1
    await call.aclose()


async def test_a_blocking_form_on_the_loop_says_what_to_write() -> None:
    call = Source().call()
    with pytest.raises(InternalError, match="write 'async for item in call' or 'await call'"):
        iter(call)
    await call.aclose()


async def test_a_slow_reader_slows_the_source() -> None:
    sent = 0

    async def stream() -> AsyncGenerator[int | Result, None]:
        nonlocal sent
        for sent in range(100_000):
            yield sent
        yield Result()

    call: Call[int, Result] = Call(stream(), Result, asyncio.get_running_loop())

    def work() -> Iterator[int]:
        yield next(iter(call))

    assert await in_thread(next, work()) == 0
    await asyncio.sleep(0.05)
    assert sent < 1000
    await call.aclose()

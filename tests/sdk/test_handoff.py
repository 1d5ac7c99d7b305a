"""A line between a thread and the loop: in order, bounded, closed from either side."""

import asyncio
import threading

import pytest

from enfilade_sdk.handoff import HANDOFF_LIMIT, Handoff, HandoffClosed, weight
from enfilade_sdk.messages import blob_message, json_message, text_message
from enfilade_sdk.prompts import ModelChunk


async def test_values_go_from_a_thread_to_the_loop_in_order() -> None:
    line: Handoff[int] = Handoff(asyncio.get_running_loop())

    def work() -> None:
        for number in range(10_000):
            line.put(number)
        line.close()

    thread = threading.Thread(target=work)
    thread.start()
    got: list[int] = []
    while batch := await line.take_async():
        assert len(batch) <= HANDOFF_LIMIT
        got += batch
    assert got == list(range(10_000))
    thread.join()


async def test_values_go_from_the_loop_to_a_thread_in_order() -> None:
    line: Handoff[int] = Handoff(asyncio.get_running_loop(), limit=7)
    got: list[int] = []

    def work() -> None:
        while batch := line.take():
            assert len(batch) <= 7
            got.extend(batch)

    working = asyncio.ensure_future(asyncio.to_thread(work))
    for number in range(1000):
        await line.put_async(number)
    line.close()
    await working
    assert got == list(range(1000))


async def test_a_line_is_full_by_bytes_as_well() -> None:
    line: Handoff[int] = Handoff(asyncio.get_running_loop(), limit=1000, size_limit=10)
    await line.put_async(1, 100)  # one item always has room
    waiting = asyncio.ensure_future(line.put_async(2, 1))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    assert await asyncio.to_thread(line.take) == [1]
    await asyncio.wait_for(waiting, 1)


async def test_closing_wakes_whoever_waits_on_either_side() -> None:
    loop = asyncio.get_running_loop()
    full: Handoff[int] = Handoff(loop, limit=1)
    empty: Handoff[int] = Handoff(loop)
    full.put(1)
    putting = asyncio.ensure_future(asyncio.to_thread(full.put, 2))
    taking = asyncio.ensure_future(asyncio.to_thread(empty.take))
    on_the_loop = asyncio.ensure_future(full.put_async(3))
    await asyncio.sleep(0.05)
    full.close()
    empty.close()
    with pytest.raises(HandoffClosed):
        await asyncio.wait_for(putting, 1)
    with pytest.raises(HandoffClosed):
        await asyncio.wait_for(on_the_loop, 1)
    assert await asyncio.wait_for(taking, 1) == []
    assert await full.take_async() == [1]  # what was put before is still there
    assert await full.take_async() == []


def test_a_thread_is_not_held_by_a_loop_that_is_gone() -> None:
    loop = asyncio.new_event_loop()
    line: Handoff[int] = Handoff(loop)
    taking = loop.create_task(line.take_async())
    loop.run_until_complete(asyncio.sleep(0))
    taking.cancel()
    loop.run_until_complete(asyncio.gather(taking, return_exceptions=True))
    loop.close()
    line.put(1)
    line.close()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (text_message("abc"), 3),
        (blob_message(b"abcd", mime_type="m"), 4),
        (json_message({"a": "b"}), 0),
        (ModelChunk("ab", "c"), 3),
        (ValueError("x"), 0),
    ],
)
def test_a_value_weighs_what_is_known_of_it(value: object, expected: int) -> None:
    assert weight(value) == expected

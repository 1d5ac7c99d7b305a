"""Items wait in bounded boxes and leave together; credit and inbox count alike."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfilade.isolation.credit import MAX_WINDOW, Credit
from enfilade_sdk.errors import EnfiladeError, ProtocolError, RunCancelled
from enfilade_sdk.inbox import WINDOW, Inbox, cost
from enfilade_sdk.outbox import Outbox


async def test_what_has_piled_up_leaves_together() -> None:
    box: Outbox[int] = Outbox()
    for number in range(5):
        await box.put(number, 1)
    assert await box.take() == [0, 1, 2, 3, 4]


async def test_what_several_tasks_say_in_one_step_leaves_together() -> None:
    box: Outbox[int] = Outbox()
    taking = asyncio.ensure_future(box.take())
    await asyncio.sleep(0)
    await asyncio.gather(*(box.put(number, 1) for number in range(3)))
    assert await taking == [0, 1, 2]


@pytest.mark.parametrize(("items", "size", "weight"), [(3, 10**9, 1), (10**9, 30, 10)])
async def test_a_full_box_makes_senders_wait_in_order(items: int, size: int, weight: int) -> None:
    box: Outbox[int] = Outbox(items, size)
    sending = [asyncio.ensure_future(box.put(number, weight)) for number in range(7)]
    got: list[int] = []
    while len(got) < 7:
        batch = await asyncio.wait_for(box.take(), 1)
        assert len(batch) <= 3
        got += batch
    assert got == list(range(7))
    await asyncio.gather(*sending)


async def test_an_item_that_cannot_wait_is_pushed_into_a_full_box() -> None:
    box: Outbox[int] = Outbox(1)
    box.push(1, 1)
    assert not box.offer(2, 1)
    box.push(3, 1)
    assert await box.take() == [1, 3]


async def test_a_closed_box_gives_what_is_left_and_takes_nothing_more() -> None:
    box: Outbox[int] = Outbox(1)
    box.push(1, 1)
    waiting = asyncio.ensure_future(box.put(2, 1))
    await asyncio.sleep(0)
    box.close()
    with pytest.raises(RunCancelled):
        await asyncio.wait_for(waiting, 1)
    for refused in (box.put(3, 1), asyncio.to_thread(box.offer, 3, 1)):
        with pytest.raises(RunCancelled):
            await refused
    assert await box.take() == [1]
    assert await asyncio.wait_for(box.take(), 1) == []


async def test_a_sender_that_is_cancelled_holds_up_no_other() -> None:
    box: Outbox[int] = Outbox(1)
    box.push(1, 1)
    first, second = (asyncio.ensure_future(box.put(number, 1)) for number in (2, 3))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    assert await box.take() == [1]
    assert await asyncio.wait_for(box.take(), 1) == [3]
    await second


async def test_an_inbox_gives_what_waits_before_it_fails() -> None:
    inbox: Inbox[str] = Inbox(lambda _: None)
    inbox.put("a", 1)
    inbox.fail(EnfiladeError("over"))
    assert await inbox.take() == ["a"]
    with pytest.raises(EnfiladeError, match="over"):
        await inbox.take()


@given(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=300))
@settings(deadline=None)
def test_whatever_the_sizes_a_call_never_stands_still_and_never_runs_far_ahead(sizes: list[int]) -> None:
    async def call() -> int:
        credit = Credit(WINDOW)
        ahead = farthest = 0

        def give(units: int) -> None:
            nonlocal ahead
            ahead -= units
            credit.give(units)

        inbox: Inbox[int] = Inbox(give)

        async def send() -> None:
            nonlocal ahead, farthest
            for size in sizes:
                await credit.spend(cost(size))
                ahead += cost(size)
                farthest = max(farthest, ahead)
                inbox.put(size, size)

        sending = asyncio.ensure_future(send())
        got: list[int] = []
        while len(got) < len(sizes):
            got += await asyncio.wait_for(inbox.take(), 1)
        await sending
        assert got == sizes
        return farthest

    assert asyncio.run(call()) <= WINDOW + cost(max(sizes))


async def test_credit_and_window_are_bounded() -> None:
    with pytest.raises(ProtocolError, match="a window is at most"):
        Credit(MAX_WINDOW + 1)
    credit = Credit(MAX_WINDOW)
    with pytest.raises(ProtocolError, match="credit is at most"):
        credit.give(1)


async def test_a_window_of_zero_leaves_it_to_the_stream() -> None:
    credit = Credit(0)
    for _ in range(10_000):
        await credit.spend(1_000)

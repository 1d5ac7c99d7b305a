import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfilade.layers.counts import MemoryCounts
from enfilade.ration import SLOTS, Ration, Reservation, Shortage


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def counts(clock: Clock) -> MemoryCounts:
    return MemoryCounts(clock)


def ration(key: str = "ada", window: float = 60.0, **limits: float) -> Ration:
    return Ration(key, window, limits or {"tokens": 100})


async def reserved(counts: MemoryCounts, of: Ration, **amounts: float) -> Reservation:
    got = await counts.reserve(of, amounts)
    assert isinstance(got, Reservation)
    return got


async def test_what_is_set_aside_cannot_be_set_aside_again(counts: MemoryCounts) -> None:
    await reserved(counts, ration(), tokens=60)
    shortage = await counts.reserve(ration(), {"tokens": 41})
    assert isinstance(shortage, Shortage)
    assert (shortage.what, shortage.used) == ("tokens", 60)
    await reserved(counts, ration(), tokens=40)


async def test_what_was_not_used_is_free_again(counts: MemoryCounts) -> None:
    first = await reserved(counts, ration(), tokens=100)
    await counts.settle(first, {"tokens": 30})
    await reserved(counts, ration(), tokens=70)


async def test_more_than_was_set_aside_counts_too(counts: MemoryCounts) -> None:
    first = await reserved(counts, ration(), tokens=10)
    await counts.settle(first, {"tokens": 150})
    assert isinstance(await counts.reserve(ration(), {"tokens": 1}), Shortage)


async def test_a_refused_reservation_takes_nothing(counts: MemoryCounts) -> None:
    both = ration(tokens=100, calls=1)
    await reserved(counts, both, tokens=10, calls=1)
    assert isinstance(await counts.reserve(both, {"tokens": 10, "calls": 1}), Shortage)
    await reserved(counts, ration(), tokens=90)


async def test_parties_do_not_share(counts: MemoryCounts) -> None:
    await reserved(counts, ration("ada"), tokens=100)
    await reserved(counts, ration("bob"), tokens=100)


async def test_what_was_used_is_free_after_its_window_and_not_before(counts: MemoryCounts, clock: Clock) -> None:
    await reserved(counts, ration(), tokens=100)
    shortage = await counts.reserve(ration(), {"tokens": 1})
    assert isinstance(shortage, Shortage)
    assert 60 <= shortage.seconds <= 61
    clock.now += 60
    assert isinstance(await counts.reserve(ration(), {"tokens": 1}), Shortage)
    clock.now += 60 / SLOTS
    await reserved(counts, ration(), tokens=100)


async def test_settling_after_the_window_changes_nothing(counts: MemoryCounts, clock: Clock) -> None:
    first = await reserved(counts, ration(), tokens=50)
    clock.now += 200
    await counts.settle(first, {"tokens": 90})
    await reserved(counts, ration(), tokens=100)


async def test_parties_that_are_not_seen_any_more_take_no_memory(counts: MemoryCounts, clock: Clock) -> None:
    for number in range(1000):
        await reserved(counts, ration(f"user {number}"), tokens=1)
        clock.now += 1
    assert counts.parties <= 63


USES = st.lists(
    st.tuples(st.floats(0, 30), st.integers(0, 60), st.integers(0, 60), st.booleans()), min_size=1, max_size=40
)


@given(uses=USES)
@settings(max_examples=200, deadline=None)
def test_in_no_window_is_more_set_aside_than_there_is(uses: list[tuple[float, int, int, bool]]) -> None:
    async def check() -> None:
        clock = Clock()
        counts = MemoryCounts(clock)
        taken: list[tuple[float, int]] = []
        for pause, asked, used, settles in uses:
            clock.now += pause
            in_window = sum(amount for at, amount in taken if at > clock.now - 60)
            got = await counts.reserve(ration(), {"tokens": asked})
            if isinstance(got, Shortage):
                assert got.used + asked > 100
                continue
            assert in_window + asked <= 100
            final = min(asked, used) if settles else asked
            if settles:
                await counts.settle(got, {"tokens": final})
            taken.append((clock.now, final))

    asyncio.run(check())

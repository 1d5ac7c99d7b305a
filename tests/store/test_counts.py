"""Counts of quotas in the store: what memory counts too, and what only a store can: several hosts, and a death."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable

import pytest

from enfilade.layers.counts import Counts
from enfilade.ration import SLOTS, Ration, Reservation, Shortage
from enfilade.store import counts as stored_counts
from enfilade.store.counts import StoredCounts
from enfilade.store.database import Database, Execute
from enfilade.store.errors import StoreError
from enfilade.store.settings import StoreSettings
from enfilade.store.store import Store
from tests.store.other_host import ROOT, other_host

SECONDS = 30


class Clock:
    """The time, where it is to pass quickly."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class TimedCounts(StoredCounts):
    """Counts by another clock."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._clock = clock

    def _time(self, execute: object) -> float:
        return self._clock()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def counts(store: Store, clock: Clock) -> Counts:
    """The same promises as those of counts in memory (`tests/layers/test_counts.py`), on two databases."""
    return TimedCounts(store.database, clock)


def ration(key: str = "ada", window: float = 60.0, **limits: float) -> Ration:
    return Ration(key, window, limits or {"tokens": 100})


async def reserved(counts: Counts, of: Ration, **amounts: float) -> Reservation:
    got = await counts.reserve(of, amounts)
    assert isinstance(got, Reservation)
    return got


async def test_what_is_set_aside_cannot_be_set_aside_again_and_what_was_not_used_can(counts: Counts) -> None:
    first = await reserved(counts, ration(), tokens=60)
    shortage = await counts.reserve(ration(), {"tokens": 41})
    assert isinstance(shortage, Shortage)
    assert (shortage.what, shortage.used) == ("tokens", 60)
    await counts.settle(first, {"tokens": 30})
    await reserved(counts, ration(), tokens=70)


async def test_more_than_was_set_aside_counts_too(counts: Counts) -> None:
    await counts.settle(await reserved(counts, ration(), tokens=10), {"tokens": 150})
    assert isinstance(await counts.reserve(ration(), {"tokens": 1}), Shortage)


async def test_a_refused_reservation_takes_nothing(counts: Counts) -> None:
    both = ration(tokens=100, calls=1)
    await reserved(counts, both, tokens=10, calls=1)
    shortage = await counts.reserve(both, {"tokens": 10, "calls": 1})
    assert isinstance(shortage, Shortage)
    assert shortage.what == "calls"
    await reserved(counts, ration(), tokens=90)


async def test_parties_and_windows_do_not_share(counts: Counts) -> None:
    for key in ("ada", "bob", "", "user 'x\0\ud800'"):
        await reserved(counts, ration(key), tokens=100)
    await reserved(counts, ration("ada", window=61.0), tokens=100)


async def test_what_was_used_is_free_after_its_window_and_not_before(counts: Counts, clock: Clock) -> None:
    await reserved(counts, ration(), tokens=100)
    shortage = await counts.reserve(ration(), {"tokens": 1})
    assert isinstance(shortage, Shortage)
    assert 60 <= shortage.seconds <= 61
    clock.now += 60
    assert isinstance(await counts.reserve(ration(), {"tokens": 1}), Shortage)
    clock.now += 60 / SLOTS
    await reserved(counts, ration(), tokens=100)


async def test_settling_after_the_window_changes_nothing(counts: Counts, clock: Clock) -> None:
    first = await reserved(counts, ration(), tokens=50)
    clock.now += 200
    await counts.settle(first, {"tokens": 90})
    await reserved(counts, ration(), tokens=100)


async def test_short_and_long_windows_count_alike(counts: Counts) -> None:
    for window in (0.5, 1.0, 30 * 86_400.0):
        await reserved(counts, ration(window=window, cost=0.5), cost=0.5)
        assert isinstance(await counts.reserve(ration(window=window, cost=0.5), {"cost": 0.1}), Shortage)


async def test_what_no_window_reaches_any_more_is_deleted(store: Store, clock: Clock) -> None:
    counts = TimedCounts(store.database, clock)
    for number in range(200):
        await reserved(counts, ration(f"user {number}"), tokens=1)
        clock.now += 1
    rows = await store.database.rows(store.database.tables.quota_uses.select())
    assert 60 <= len(rows) <= 200 - 60


@pytest.fixture
async def hosts(settings: StoreSettings) -> AsyncIterator[list[Store]]:
    """Three hosts of one store."""
    stores = [await Store.open(settings) for _ in range(3)]
    yield stores
    for store in stores:
        await store.aclose()


async def test_of_two_hosts_that_ask_for_the_last_at_once_exactly_one_is_refused(hosts: list[Store]) -> None:
    for number in range(10):
        last = ration(f"user {number}", calls=1)
        answers = await asyncio.gather(*(host.counts.reserve(last, {"calls": 1}) for host in hosts[:2]))
        assert sorted(type(answer).__name__ for answer in answers) == ["Reservation", "Shortage"]


async def test_however_many_hosts_ask_at_once_no_more_is_given_than_there_is(hosts: list[Store]) -> None:
    asked = [host.counts.reserve(ration(calls=7, tokens=1000), {"calls": 1, "tokens": 10}) for host in hosts * 10]
    answers = await asyncio.gather(*asked)
    assert sum(isinstance(answer, Reservation) for answer in answers) == 7
    for answer in answers:
        if isinstance(answer, Reservation):
            await hosts[0].counts.settle(answer, {"calls": 1, "tokens": 4})
    await hosts[0].counts.aclose()
    shortage = await hosts[1].counts.reserve(ration(tokens=28), {"tokens": 1})
    assert isinstance(shortage, Shortage)
    assert shortage.used == 28


RESERVES = """
import asyncio, sys
from enfilade.ration import Ration, Reservation
from enfilade.store.settings import StoreSettings
from enfilade.store.store import Store
async def main():
    async with await Store.open(StoreSettings(url=sys.argv[1])) as store:
        print("open", flush=True)
        sys.stdin.readline()
        ration = Ration("ada", 3600.0, {"calls": 25})
        asked = [store.counts.reserve(ration, {"calls": 1}) for _ in range(20)]
        print(sum(isinstance(answer, Reservation) for answer in await asyncio.gather(*asked)), flush=True)
asyncio.run(main())
"""


async def test_two_processes_share_a_quota(settings: StoreSettings) -> None:
    async with await Store.open(settings):
        pass
    command = (sys.executable, "-c", RESERVES, settings.url)
    pipe = subprocess.PIPE
    hosts = [await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, cwd=ROOT) for _ in range(2)]
    async with asyncio.timeout(SECONDS):
        for host in hosts:
            assert host.stdout is not None
            assert await host.stdout.readline() == b"open\n"
        given = [int(said) for said, _ in await asyncio.gather(*(host.communicate(b"\n") for host in hosts))]
    assert sum(given) == 25


async def test_what_a_host_set_aside_that_died_goes_on_counting_and_what_it_used_too(settings: StoreSettings) -> None:
    async with await Store.open(settings) as first:
        await reserved(first.counts, ration(window=3600.0), tokens=60)
    async with await Store.open(settings) as second:
        shortage = await second.counts.reserve(ration(window=3600.0), {"tokens": 41})
        assert isinstance(shortage, Shortage)
        assert shortage.used == 60


@pytest.mark.parametrize("turns", [1, 3, 20])
async def test_a_reservation_whose_caller_leaves_is_given_back(
    store: Store, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    counts, of = store.counts, ration(window=3600.0, calls=1)
    under_way = asyncio.Event()
    transact = store.database.transact

    async def slow(work: Callable[[Execute], Reservation]) -> Reservation:
        answer = await transact(work)
        under_way.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        return answer

    monkeypatch.setattr(store.database, "transact", slow)
    asking = asyncio.create_task(counts.reserve(of, {"calls": 1}))
    await asyncio.wait_for(under_way.wait(), SECONDS)
    asking.cancel()
    await asyncio.wait([asking])
    if not asking.cancelled():  # it was a moment quicker, and is the caller's to give back
        return
    for _ in range(SECONDS * 100):
        if isinstance(await counts.reserve(of, {"calls": 1}), Reservation):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it was not given back")


async def test_a_quota_that_nobody_can_count_is_refused_and_what_cannot_be_settled_now_is_settled_later(
    file_settings: StoreSettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("enfilade.store.engine.BUSY_SECONDS", 0.05)
    async with await Store.open(file_settings) as store:
        first = await reserved(store.counts, ration(window=3600.0), tokens=60)
        async with other_host("lock", file_settings.url):
            with pytest.raises(StoreError, match="another program holds it locked"):
                await store.counts.reserve(ration(window=3600.0), {"tokens": 1})
            await store.counts.settle(first, {"tokens": 10})
            await store.counts.aclose()
            assert "a quota counts what was set aside, not what was used: the store" in caplog.text
        await reserved(store.counts, ration(window=3600.0), tokens=90)
        shortage = await store.counts.reserve(ration(window=3600.0), {"tokens": 1})
        assert isinstance(shortage, Shortage)


async def test_what_was_settled_is_seen_by_other_hosts_soon_and_at_the_end(hosts: list[Store]) -> None:
    first, second, _ = hosts
    of = ration(window=3600.0)
    await first.counts.settle(await reserved(first.counts, of, tokens=100), {"tokens": 10})
    for _ in range(SECONDS * 100):
        if isinstance(await second.counts.reserve(of, {"tokens": 90}), Reservation):
            break
        await asyncio.sleep(0.01)
    shortage = await first.counts.reserve(of, {"tokens": 1})
    assert isinstance(shortage, Shortage)
    assert shortage.used == 100


async def test_what_is_settled_as_the_host_ends_is_written(settings: StoreSettings) -> None:
    of = ration(window=3600.0)
    async with await Store.open(settings) as first:
        await first.counts.settle(await reserved(first.counts, of, tokens=100), {"tokens": 10})
    async with await Store.open(settings) as second:
        await reserved(second.counts, of, tokens=90)


async def test_a_servers_clock_is_the_one_that_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if not store.database.is_postgres:
        pytest.skip("a file has no clock of its own")
    monkeypatch.setattr(stored_counts, "now", lambda: 0)
    got = await reserved(store.counts, ration(), tokens=1)
    assert got.at > 1_700_000_000

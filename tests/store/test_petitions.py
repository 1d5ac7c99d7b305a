"""Petitions: written down by a host, answered by whoever has the store open, closed by whoever finds the host dead."""

import asyncio
import time

import pytest

from enfilade.layers.petition import AskRecord
from enfilade.petition import Decision, Petition
from enfilade.store.approvals import PetitionShown, decide_petition, list_petitions
from enfilade.store.errors import PetitionClosedError, PetitionNotFoundError, StoreError
from enfilade.store.petition_state import PetitionState
from enfilade.store.settings import StoreSettings
from enfilade.store.store import Store
from tests.store.other_host import other_host

SECONDS = 30


def petition(name: str = "aaaa1111", *, seconds: float = 300, secrets: tuple[str, ...] = ()) -> Petition:
    now = time.time()
    arguments = {"path": "notes.txt", "key": "hunter2"}
    return Petition(name, "run1", "ada", "p", "s", "c", "delete", "c1", arguments, now, now + seconds, secrets)


async def waiting(store: Store, number: int = 1) -> list[PetitionShown]:
    """Waits, for a bounded time, until so many petitions wait."""
    for _ in range(SECONDS * 100):
        if len(found := await list_petitions(store.database)) >= number:
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("nothing was asked")


async def test_a_petition_is_shown_and_the_word_on_it_reaches_the_host(settings: StoreSettings) -> None:
    async with await Store.open(settings) as host, await Store.open(settings) as other:
        asking = asyncio.create_task(AskRecord(host.petitions)(petition(secrets=("hunter2",))))
        (shown,) = await waiting(other)
        assert (shown.id, shown.status, shown.tool, shown.user_id) == (
            "aaaa1111",
            PetitionState.WAITING,
            "delete",
            "ada",
        )
        assert shown.arguments == {"path": "notes.txt", "key": "********"}
        assert 290 < (shown.expires_at - shown.asked_at).total_seconds() <= 300
        done = await decide_petition(other.database, "aaaa", allowed=True, arguments={"path": "other.txt"})
        assert done.status is PetitionState.ALLOWED
        decision = await asyncio.wait_for(asking, SECONDS)
        assert decision == Decision(allowed=True, arguments={"path": "other.txt"})
        assert await list_petitions(other.database) == []
        (closed,) = await list_petitions(other.database, closed=True)
        assert closed.decided_arguments == {"path": "other.txt"}


async def test_a_no_comes_with_its_reason(store: Store) -> None:
    asking = asyncio.create_task(AskRecord(store.petitions)(petition()))
    await waiting(store)
    await decide_petition(store.database, "aaaa1111", allowed=False, reason="not on a Sunday")
    assert await asyncio.wait_for(asking, SECONDS) == Decision(allowed=False, reason="not on a Sunday")


async def test_many_wait_at_once_and_each_gets_its_own_word(store: Store) -> None:
    names = [f"{number:04d}aaaa" for number in range(10)]
    asking = [asyncio.create_task(AskRecord(store.petitions)(petition(name))) for name in names]
    await waiting(store, 10)
    for number, name in enumerate(names):
        await decide_petition(store.database, name, allowed=number % 2 == 0)
    answers = await asyncio.wait_for(asyncio.gather(*asking), SECONDS)
    assert [answer.allowed for answer in answers] == [number % 2 == 0 for number in range(10)]


async def test_of_two_who_answer_at_once_one_does(settings: StoreSettings) -> None:
    async with await Store.open(settings) as host, await Store.open(settings) as other:
        asking = asyncio.create_task(AskRecord(host.petitions)(petition()))
        await waiting(other)
        answers = await asyncio.gather(
            *(decide_petition(at.database, "aaaa1111", allowed=at is host) for at in (host, other)),
            return_exceptions=True,
        )
        (refused,) = [answer for answer in answers if isinstance(answer, BaseException)]
        assert isinstance(refused, PetitionClosedError)
        (first,) = [answer for answer in answers if isinstance(answer, PetitionShown)]
        heard = await asyncio.wait_for(asking, SECONDS)
        assert heard.allowed is (first.status is PetitionState.ALLOWED)


async def test_one_that_nobody_waits_for_any_more_cannot_be_answered(store: Store) -> None:
    asking = asyncio.create_task(AskRecord(store.petitions)(petition()))
    await waiting(store)
    asking.cancel()
    await asyncio.wait([asking])
    with pytest.raises(PetitionClosedError, match="does not wait for a word any more: it is withdrawn"):
        await decide_petition(store.database, "aaaa1111", allowed=True)
    assert [found.status for found in await list_petitions(store.database, closed=True)] == [PetitionState.WITHDRAWN]


async def test_a_word_that_came_in_time_counts_though_the_host_has_not_looked_since(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enfilade.store.petitions.LOOK_SECONDS", 600)
    asking = asyncio.create_task(AskRecord(store.petitions)(petition(seconds=2)))
    await waiting(store)
    await decide_petition(store.database, "aaaa1111", allowed=True)
    assert (await asyncio.wait_for(asking, SECONDS)).allowed
    assert [found.status for found in await list_petitions(store.database, closed=True)] == [PetitionState.ALLOWED]


async def test_one_that_expired_at_its_host_cannot_be_answered_any_more(store: Store) -> None:
    with pytest.raises(TimeoutError):
        await AskRecord(store.petitions)(petition(seconds=0.05))
    with pytest.raises(PetitionClosedError, match="it is expired"):
        await decide_petition(store.database, "aaaa1111", allowed=True)
    assert [found.status for found in await list_petitions(store.database, closed=True)] == [PetitionState.EXPIRED]


async def test_one_whose_time_is_over_is_expired_even_before_its_host_says_so(store: Store) -> None:
    await store.petitions.open(petition(seconds=0.0))
    assert await list_petitions(store.database) == []
    with pytest.raises(PetitionClosedError, match="it is expired"):
        await decide_petition(store.database, "aaaa1111", allowed=True)
    await store.petitions.close("aaaa1111")
    (found,) = await list_petitions(store.database, closed=True)
    assert found.status is PetitionState.EXPIRED


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("aa", "give at least 4 characters of the petition's id, got 'aa'"),
        ("bbbb", "there is no petition whose id begins with 'bbbb'"),
        ("AAAA1111", "there is no petition whose id begins with 'AAAA1111'"),
        ("aaaa", "several petitions have an id that begins with 'aaaa'"),
        ("a%%%", "there is no petition"),
    ],
)
async def test_a_name_that_names_none_or_several_is_refused(store: Store, name: str, text: str) -> None:
    await store.petitions.open(petition("aaaa1111"))
    await store.petitions.open(petition("aaaa2222"))
    with pytest.raises(PetitionNotFoundError, match=text):
        await decide_petition(store.database, name, allowed=True)


async def test_petitions_of_a_host_that_died_lapse(settings: StoreSettings) -> None:
    async with other_host("ask", settings.url) as host:
        async with await Store.open(settings) as store:
            assert [found.tool for found in await waiting(store)] == ["delete"]
        host.kill()
        await host.wait()
        async with await Store.open(settings) as store:
            assert await list_petitions(store.database) == []
            (found,) = await list_petitions(store.database, closed=True)
            assert (found.status, found.decided_at is not None) == (PetitionState.LAPSED, True)
            with pytest.raises(PetitionClosedError, match="it is lapsed"):
                await decide_petition(store.database, found.id, allowed=True)


async def test_what_a_host_leaves_at_its_end_lapses_too(settings: StoreSettings) -> None:
    async with await Store.open(settings) as store:
        await store.petitions.open(petition())
    async with await Store.open(settings) as store:
        (found,) = await list_petitions(store.database, closed=True)
    assert found.status is PetitionState.LAPSED


async def test_without_a_store_to_write_to_nobody_is_asked_and_nothing_allowed(
    file_settings: StoreSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enfilade.store.engine.BUSY_SECONDS", 0.05)
    async with await Store.open(file_settings) as store, other_host("lock", file_settings.url):
        with pytest.raises(StoreError, match="another program holds it locked"):
            await AskRecord(store.petitions)(petition())


async def test_a_time_without_the_store_is_waited_out(
    file_settings: StoreSettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with await Store.open(file_settings) as store:
        rows = store.database.rows
        failures = [StoreError("the store is away"), StoreError("the store is away")]

        async def sometimes(query: object) -> object:
            if failures:
                raise failures.pop()
            return await rows(query)  # type: ignore[arg-type]

        monkeypatch.setattr(store.database, "rows", sometimes)
        asking = asyncio.create_task(AskRecord(store.petitions)(petition()))
        await waiting(store)
        await decide_petition(store.database, "aaaa1111", allowed=True)
        assert (await asyncio.wait_for(asking, SECONDS)).allowed
    assert "it cannot be seen whether somebody has answered: the store is away" in caplog.text

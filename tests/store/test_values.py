"""The small storage, in memory and in the database alike."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from enfilade.storage import KEY_LIMIT, SPACE_LIMIT, MemoryStorage, Storage
from enfilade.store.settings import StoreSettings
from enfilade.store.store import Store
from enfilade_sdk.errors import InvalidParamsError, QuotaExceededError
from enfilade_sdk.prompts import StorageRequest
from tests.support.postgres import PostgresServer


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    if request.param == "memory":
        yield MemoryStorage()
        return
    url = f"sqlite:///{tmp_path}/records.db"
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("server")
        url = await server.database()
    async with await Store.open(StoreSettings(url=url)) as store:
        yield store.values


async def put(storage: Storage, key: str, value: Any, plugin: str = "p", conversation: str = "c") -> None:
    assert await storage.use(plugin, conversation, StorageRequest("set", key, value)) is None


async def got(storage: Storage, key: str, plugin: str = "p", conversation: str = "c") -> Any:
    return await storage.use(plugin, conversation, StorageRequest("get", key))


async def test_a_value_is_got_set_changed_and_deleted(storage: Storage) -> None:
    assert await got(storage, "k") is None
    for value in ({"a": [1, None, 2.5, "ü\0"]}, "", 0, False, None):
        await put(storage, "k", value)
        assert await got(storage, "k") == value
    await storage.use("p", "c", StorageRequest("delete", "k"))
    await storage.use("p", "c", StorageRequest("delete", "never there"))
    assert await got(storage, "k") is None


async def test_values_are_apart_by_plugin_and_conversation(storage: Storage) -> None:
    for plugin, conversation in (("p", "c"), ("p", ""), ("q", "c")):
        await put(storage, "k", f"{plugin}{conversation}", plugin, conversation)
    assert [await got(storage, "k", *place) for place in (("p", "c"), ("p", ""), ("q", "c"), ("q", ""))] == [
        "pc",
        "p",
        "qc",
        None,
    ]


@pytest.mark.parametrize("key", ["", "k" * (KEY_LIMIT + 1)])
@pytest.mark.parametrize("verb", ["get", "set", "delete"])
async def test_a_key_of_a_wrong_length_is_refused(storage: Storage, key: str, verb: Any) -> None:
    with pytest.raises(InvalidParamsError, match="a storage key has 1 to 256 characters"):
        await storage.use("p", "c", StorageRequest(verb, key, 1))


async def test_odd_keys_are_keys_like_others(storage: Storage) -> None:
    keys = ["nul\0", "100%", "a_b", "'; --", "\N{FISH}", "x" * KEY_LIMIT]
    for number, key in enumerate(keys):
        await put(storage, key, number)
    assert [await got(storage, key) for key in keys] == list(range(len(keys)))


async def test_the_quota_counts_what_is_there_and_is_per_space(storage: Storage) -> None:
    most = "x" * (SPACE_LIMIT - 2)
    await put(storage, "k", most)
    await put(storage, "k", most)
    await put(storage, "k", most, conversation="other")
    with pytest.raises(QuotaExceededError, match=f"holds {SPACE_LIMIT} bytes; this would make it {SPACE_LIMIT + 1}"):
        await put(storage, "l", 1)
    assert await got(storage, "l") is None
    await put(storage, "k", 1)
    await put(storage, "l", "ü" * 10)
    assert await got(storage, "k") == 1


async def test_keys_are_counted_too(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enfilade.storage.MOST_KEYS", 2)
    await put(storage, "a", 0)
    await put(storage, "b", 0)
    await put(storage, "b", 1)
    await put(storage, "c", 0, conversation="other")
    with pytest.raises(QuotaExceededError, match="holds 2 keys; delete some"):
        await put(storage, "c", 0)
    await storage.use("p", "c", StorageRequest("delete", "a"))
    await put(storage, "c", 0)


async def test_what_is_no_json_is_refused(store: Store) -> None:
    for value in ({1, 2}, "\ud83d", float("nan"), {"a": object()}):
        with pytest.raises(InvalidParamsError, match="expected a JSON value, got"):
            await put(store.values, "k", value)


async def test_the_quota_holds_when_many_write_at_once_from_two_hosts(settings: StoreSettings) -> None:
    part = "x" * (SPACE_LIMIT // 4 - 2)
    async with await Store.open(settings) as one, await Store.open(settings) as two:
        writes = [put(store.values, f"{number}", part) for number in range(5) for store in (one, two)]
        writes += [put(store.values, f"{number + 10}", part) for number in range(5) for store in (one, two)]
        results = await asyncio.gather(*writes, return_exceptions=True)
        assert {type(result) for result in results} == {type(None), QuotaExceededError}
        kept = [key for key in map(str, range(15)) if await got(one.values, key) is not None]
    assert len(kept) == 4


async def test_values_outlast_the_host(settings: StoreSettings) -> None:
    async with await Store.open(settings) as store:
        await put(store.values, "k", {"turns": 3})
    async with await Store.open(settings) as store:
        assert await got(store.values, "k") == {"turns": 3}


async def test_a_write_whose_run_is_cancelled_still_ends_whole(store: Store) -> None:
    writing = asyncio.create_task(put(store.values, "k", "whole"))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await put(store.values, "l", 1)
    for _ in range(2000):
        if await got(store.values, "k") is not None:
            break
        await asyncio.sleep(0.005)
    assert await got(store.values, "k") == "whole"

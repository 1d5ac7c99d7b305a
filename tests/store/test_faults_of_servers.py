"""A PostgreSQL server that is gone: at the start, in mid-run, for good."""

import logging
import signal
from collections.abc import AsyncIterator

import pytest

from enfilade.outcome import Status
from enfilade.store import engine
from enfilade.store.errors import StoreError, Trouble
from enfilade.store.runs import list_runs, show_run
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade.store.store import Store
from enfilade_sdk.errors import ErrorCode, QuotaExceededError
from enfilade_sdk.messages import json_message
from enfilade_sdk.prompts import AssistantMessage, ModelRequest, ModelResult, StorageRequest, Usage, UserMessage
from tests.support.postgres import PostgresServer

STOPS = pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["shut down", "crashed"])


@pytest.fixture
async def settings(server: PostgresServer) -> AsyncIterator[StoreSettings]:
    """A database of a server that a test may stop."""
    yield StoreSettings(url=await server.database())
    server.start()


async def played(store: Store, run_id: str, *, rounds: int) -> None:
    """A run of some rounds that goes well."""
    record = await store.records.run_began(RunStart(run_id, "fc", "Hello?"))
    for number in range(rounds):
        entry = await record.model_began(ModelRequest((UserMessage(content="Hello?"),)))
        entry.ended(ModelResult(AssistantMessage(content=str(number)), usage=Usage(prompt_tokens=1)))
        await record.event(json_message([number]))
    record.ended(Status.SUCCEEDED, answer="Hello.")


@STOPS
async def test_a_run_goes_on_without_its_server_and_its_records_arrive_once_it_is_back(
    server: PostgresServer, settings: StoreSettings, how: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    async with await Store.open(settings) as store:
        record = await store.records.run_began(RunStart("before", "fc", "Hello?"))
        entry = await record.model_began(ModelRequest((UserMessage(content="Hello?"),)))
        await store.records.flush()
        server.stop(how)
        entry.ended(ModelResult(AssistantMessage(content="said while it was away")))
        record.ended(Status.SUCCEEDED)
        await played(store, "meanwhile", rounds=3)
        with pytest.raises(StoreError, match=r"the server does not answer|shutting down") as caught:
            await store.records.flush()
        assert caught.value.trouble is Trouble.GONE
        assert store.records.waiting > 10
        server.start()
        await store.records.flush()
        assert {run.id: run.status for run in await list_runs(store.database)} == {
            "before": State.SUCCEEDED,
            "meanwhile": State.SUCCEEDED,
        }
        assert (await show_run(store.database, "before")).rounds[0].text == "said while it was away"
        found = await show_run(store.database, "meanwhile")
    assert [entry.text for entry in found.rounds] == ["0", "1", "2"]
    assert (found.events, found.used.usage.prompt_tokens) == (3, 3)
    texts = [entry.message for entry in caplog.records if entry.levelno == logging.WARNING]
    assert any(text.startswith("records wait and are tried again: the store postgresql://") for text in texts)
    assert any("can be written again; what waited is written" in text for text in texts)


async def test_a_run_fails_with_its_server_when_it_is_to_and_says_which(
    server: PostgresServer, settings: StoreSettings
) -> None:
    async with await Store.open(settings.model_copy(update={"on_failure": "fail"})) as store:
        record = await store.records.run_began(RunStart("run1", "fc", "Hello?"))
        await record.settled()
        server.stop(signal.SIGQUIT)
        await record.event(json_message(["unwritten"]))
        with pytest.raises(StoreError) as caught:
            await record.settled()
        assert str(settings.url.rpartition("@")[2]) in caught.value.message
        with pytest.raises(StoreError):
            await record.model_began(ModelRequest((UserMessage(content="Hello?"),)))
        record.ended(Status.FAILED, error=caught.value)
        server.start()
        await store.records.flush()
        found = await show_run(store.database, "run1")
    assert (found.summary.status, found.events) == (State.FAILED, 1)
    assert found.summary.error_code == ErrorCode.STORE_FAILED


async def test_what_waits_is_bounded(server: PostgresServer, settings: StoreSettings) -> None:
    async with await Store.open(settings.model_copy(update={"buffer_records": 20})) as store:
        record = await store.records.run_began(RunStart("run1", "fc", "Hello?"))
        await store.records.flush()
        server.stop(signal.SIGQUIT)
        with pytest.raises(StoreError, match="records wait, and no more fit: the store postgresql://") as caught:
            for number in range(100):
                await record.event(json_message([number]))
        assert caught.value.trouble is Trouble.BUFFER_FULL
        assert store.records.waiting == 20
        record.ended(Status.FAILED, error=caught.value)
        server.start()
        await store.records.flush()
        assert (await show_run(store.database, "run1")).events == 20


async def test_a_host_that_ends_without_its_server_says_how_much_is_lost(
    server: PostgresServer, settings: StoreSettings, caplog: pytest.LogCaptureFixture
) -> None:
    store = await Store.open(settings)
    server.stop(signal.SIGQUIT)
    await played(store, "run1", rounds=1)
    await store.aclose(seconds=0.2)
    assert any(entry.message.startswith("4 records are lost: the store postgresql://") for entry in caplog.records)
    with pytest.raises(StoreError, match="the records are closed"):
        await store.records.flush()


async def test_reading_and_values_fail_at_once_without_the_server(
    server: PostgresServer, settings: StoreSettings
) -> None:
    async with await Store.open(settings) as store:
        server.stop(signal.SIGQUIT)
        for use in (store.conversation("c"), list_runs(store.database), show_run(store.database, "run1")):
            with pytest.raises(StoreError) as caught:
                await use
            assert caught.value.trouble is Trouble.GONE
        with pytest.raises(StoreError):
            await store.values.use("p", "c", StorageRequest("get", "k"))
        server.start()
        assert await store.values.use("p", "c", StorageRequest("get", "k")) is None
        assert (await store.conversation("c")).turns == 0


async def test_a_server_that_is_not_there_at_the_start_is_named(
    server: PostgresServer, settings: StoreSettings
) -> None:
    server.stop()
    with pytest.raises(
        StoreError, match=r"the store postgresql://enfilade@127.0.0.1:\d+/records cannot be used"
    ) as caught:
        await Store.open(settings)
    assert caught.value.trouble is Trouble.GONE
    assert "see whether it runs and whether the address is right" in caught.value.message


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("/records", "/nothing"), "the server has no database of that name"),
        (("enfilade@", "stranger:hunter2@"), "the server refuses this user or password"),
    ],
)
async def test_a_refusal_says_why_and_never_the_password(
    server: PostgresServer, settings: StoreSettings, change: tuple[str, str], expected: str
) -> None:
    with pytest.raises(StoreError, match=expected) as caught:
        await Store.open(StoreSettings(url=settings.url.replace(*change)))
    assert caught.value.trouble is Trouble.REFUSED
    assert "hunter2" not in f"{caught.value!r} {caught.value.message} {caught.value.__cause__!r}"


async def test_a_user_without_privileges_is_told_so(server: PostgresServer, settings: StoreSettings) -> None:
    async with server.session(settings.url) as session:
        await session.execute("CREATE ROLE visitor LOGIN")
    with pytest.raises(StoreError, match="this user lacks a privilege in the database") as caught:
        await Store.open(StoreSettings(url=settings.url.replace("enfilade@", "visitor@")))
    assert caught.value.trouble is Trouble.REFUSED


async def test_a_user_who_may_not_make_a_schema_may_use_one_that_is_there(
    server: PostgresServer, settings: StoreSettings
) -> None:
    async with server.session(settings.url) as session:
        await session.execute("CREATE ROLE tenant LOGIN; CREATE SCHEMA enfilade AUTHORIZATION tenant")
    async with await Store.open(StoreSettings(url=settings.url.replace("enfilade@", "tenant@"))) as store:
        await played(store, "run1", rounds=1)


async def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    with pytest.raises(StoreError, match=r"PostgreSQL needs a driver: install enfilade\[postgres\]"):
        await Store.open(StoreSettings(url="postgresql://ada@127.0.0.1/records"))


async def test_an_address_that_cannot_be_read_is_not_shown() -> None:
    with pytest.raises(StoreError, match="write @ : / in a password as %40 %3A %2F") as caught:
        await Store.open(StoreSettings(url="postgresql://ada:hunter2@127.0.0.1:port/records"))
    assert "hunter2" not in caught.value.message


async def test_the_settings_do_not_show_the_address() -> None:
    assert "hunter2" not in repr(StoreSettings(url="postgresql://ada:hunter2@127.0.0.1/records"))


async def test_a_quota_error_is_not_taken_for_a_fault_of_the_store(settings: StoreSettings) -> None:
    async with await Store.open(settings) as store:
        with pytest.raises(QuotaExceededError):
            await store.values.use("p", "c", StorageRequest("set", "k", "x" * 2_000_000))

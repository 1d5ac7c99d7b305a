"""Runs of hosts that died are closed, once; runs of hosts that live are not."""

import asyncio
import signal
import time
from typing import Any

import pytest

from enfilade.outcome import Status
from enfilade.store.database import Database
from enfilade.store.leases import Lease
from enfilade.store.machine import ProcessIdentity
from enfilade.store.records import Records
from enfilade.store.runs import list_runs, show_run
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade.store.store import Store
from enfilade_sdk.prompts import AssistantMessage, ToolMessage
from tests.store.other_host import INTERVAL, other_host, said
from tests.store.provider_rules import faults_of


async def states(store: Store) -> dict[str, State]:
    return {run.id: run.status for run in await list_runs(store.database)}


async def left_behind(settings: StoreSettings, *run_ids: str, **host: Any) -> None:
    """Runs of a host whose row is changed behind its back, as if it were of another machine, or silent for long."""
    database = await Database.open(settings)
    lease = Lease(database, settings)
    await lease.sign()
    records = Records(database, settings, lease.host_id)
    for run_id in run_ids:
        await records.run_began(RunStart(run_id, "fc", "Hello?"))
    await records.aclose()
    hosts = database.tables.hosts
    async with database.writing() as connection:
        if "silent" in host:
            host["beat_at"] = hosts.c.beat_at - int(host.pop("silent") * 1_000_000)
        await connection.execute(hosts.update().where(hosts.c.id == lease.host_id).values(id=lease.host_id, **host))
    await database.aclose()


async def test_a_killed_hosts_run_is_closed_at_the_next_start_with_all_that_is_open(settings: StoreSettings) -> None:
    async with other_host("hold", settings.url) as host:
        host.send_signal(signal.SIGKILL)
        await host.wait()
        async with await Store.open(settings) as store:
            assert store.interrupted == ["held"]
            found = await show_run(store.database, "held")
            assert found.summary.status is State.INTERRUPTED
            assert found.summary.ended_at is not None
            assert [entry.status for entry in found.rounds] == [State.SUCCEEDED, State.INTERRUPTED]
            assert [call.status for call in found.rounds[0].calls] == [State.INTERRUPTED]
            messages = (await store.conversation("c")).messages
    assert faults_of(messages) == []
    told = [message for message in messages if isinstance(message, ToolMessage)]
    why = "the host stopped in the middle of the run"
    assert [message.content for message in told] == []
    assert messages[-1] == AssistantMessage(content=f"[No answer: {why}.]")


async def test_the_run_of_a_living_host_stays_open_even_while_it_is_stopped(settings: StoreSettings) -> None:
    async with other_host("hold", settings.url) as host:
        host.send_signal(signal.SIGSTOP)
        hurried = settings.model_copy(update={"dead_after": 1e-6})
        async with await Store.open(hurried) as store:
            assert store.interrupted == []
            assert await states(store) == {"held": State.RUNNING}
        host.send_signal(signal.SIGCONT)
        assert host.stdin is not None
        host.stdin.close()
        assert await host.wait() == 0
        async with await Store.open(settings) as store:
            assert await states(store) == {"held": State.INTERRUPTED}
            assert store.interrupted == []


async def test_two_hosts_that_start_at_once_close_a_dead_run_once(settings: StoreSettings) -> None:
    await left_behind(settings, "run0", "run1", "run2", pid=2**22 + 1)
    stores = await asyncio.gather(*(Store.open(settings) for _ in range(4)))
    found = await states(stores[0])
    await asyncio.gather(*(store.aclose() for store in stores))
    assert sorted(run_id for store in stores for run_id in store.interrupted) == ["run0", "run1", "run2"]
    assert set(found.values()) == {State.INTERRUPTED}


@pytest.mark.parametrize(
    ("host", "dead"),
    [
        ({"machine": "elsewhere", "silent": 3600}, True),
        ({"machine": "elsewhere", "silent": 5}, False),
        ({"pid": 2**22 + 1}, True),
        ({"process_began": 1.0}, True),
        ({"silent": 3600}, True),
        ({"silent": 5}, False),
    ],
    ids=[
        "another machine, silent for an hour",
        "another machine, heard of lately",
        "no such process",
        "a later process of that number",
        "a host of this process, silent for an hour",
        "a host of this process, heard of lately",
    ],
)
async def test_who_is_dead(settings: StoreSettings, host: dict[str, Any], *, dead: bool) -> None:
    await left_behind(settings, "run1", **host)
    store = await Store.open(settings)
    async with store.database.reading() as connection:
        up = await store.database.clock(connection) - await store.database.up_since(connection)
    await store.aclose()
    if "silent" in host and up < settings.dead_after * 1_000_000:  # nobody could sign before the server was up
        dead = False
    assert store.interrupted == (["run1"] if dead else [])


async def test_a_host_of_another_machine_is_dead_when_the_server_was_up_and_it_was_silent(server: Any) -> None:
    settings = StoreSettings(url=await server.database(), dead_after=0.001)
    await left_behind(settings, "run1", machine="elsewhere", silent=1)
    async with await Store.open(settings) as store:
        assert store.interrupted == ["run1"]


async def test_a_running_host_closes_the_runs_of_others_that_die(settings: StoreSettings) -> None:
    quick = settings.model_copy(update={"beat": 0.02})
    async with await Store.open(quick) as store:
        async with other_host("hold", settings.url) as host:
            assert await states(store) == {"held": State.RUNNING}
            host.send_signal(signal.SIGKILL)
            await host.wait()
        for _ in range(2000):
            if await states(store) == {"held": State.INTERRUPTED}:
                break
            await asyncio.sleep(0.005)
        assert await states(store) == {"held": State.INTERRUPTED}


async def test_a_host_that_ends_closes_its_own_runs_and_leaves_no_trace(settings: StoreSettings) -> None:
    async with await Store.open(settings) as store:
        await store.records.run_began(RunStart("run1", "fc", "Hello?"))
    async with await Store.open(settings) as store:
        assert store.interrupted == []
        assert await states(store) == {"run1": State.INTERRUPTED}
        async with store.database.reading() as connection:
            assert len((await connection.execute(store.database.tables.hosts.select())).all()) == 1


async def test_a_run_that_was_closed_keeps_that_end_when_its_host_was_only_away(settings: StoreSettings) -> None:
    async with await Store.open(settings) as away:
        record = await away.records.run_began(RunStart("run1", "fc", "Hello?"))
        await away.records.flush()
        hosts = away.database.tables.hosts
        async with away.database.writing() as connection:
            await connection.execute(hosts.delete())
        async with await Store.open(settings) as other:
            assert other.interrupted == ["run1"]
            record.ended(Status.SUCCEEDED, answer="late")
            await away.records.flush()
            found = await show_run(other.database, "run1")
            assert (found.summary.status, found.summary.answer) == (State.INTERRUPTED, None)


async def test_a_host_that_lost_its_claim_signs_anew(settings: StoreSettings) -> None:
    database = await Database.open(settings)
    lease = Lease(database, settings)
    await lease.sign()
    async with database.writing() as connection:
        await connection.execute(database.tables.hosts.delete())
    await lease.sign()
    await lease.sign()
    async with database.reading() as connection:
        (row,) = (await connection.execute(database.tables.hosts.select())).mappings()
    assert row["id"] == lease.host_id
    assert ProcessIdentity(row["machine"], row["pid"], row["process_began"]).is_own
    await database.aclose()


async def test_what_was_appended_longer_ago_than_the_interval_outlasts_a_kill(settings: StoreSettings) -> None:
    async with other_host("write", settings.url) as host:
        appended = {}
        began = time.monotonic()
        while time.monotonic() < began + 2 * INTERVAL:
            number, moment = (await said(host)).split()
            appended[number] = float(moment)
        killed = time.monotonic()
        host.send_signal(signal.SIGKILL)
        await host.wait()
    due = [number for number, moment in appended.items() if moment < killed - INTERVAL]
    async with await Store.open(settings) as store:
        kept = [entry.text for entry in (await show_run(store.database, "written")).rounds]
    assert len(due) > 10
    assert kept[: len(due)] == due

"""How a host keeps in touch with a plugin at an address: what it sees of it, and when it connects again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from enfilade.candidate import Candidate
from enfilade.errors import ConfigError, LaunchError
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.remote import RemoteGuest
from enfilade.isolation.supervision.backoff import CrashPolicy
from enfilade.isolation.supervision.states import State
from enfilade.supervision import Supervision
from enfilade_sdk.errors import GuestDiedError
from tests.support.elsewhere import Elsewhere
from tests.support.states import BOUND, Heard
from tests.support.trial_hatch import TrialHatch
from tests.support.trial_run import begin

PATIENT = CrashPolicy(first=600, longest=600, jitter=0)


@asynccontextmanager
async def known(
    plugin: Elsewhere, heartbeat: float = 0.05, policy: CrashPolicy | None = None
) -> AsyncIterator[tuple[RemoteGuest, Heard]]:
    candidate = Candidate(
        plugin="far", address=plugin.address, start_timeout=BOUND, supervision=Supervision(heartbeat=heartbeat)
    )
    guest = Launcher(policy=policy or CrashPolicy(first=0.02, longest=0.05)).guest(candidate)
    assert isinstance(guest, RemoteGuest)
    try:
        yield guest, Heard(guest)
    finally:
        await guest.stop()
        assert guest.status().state in (State.STOPPED, State.INSTALLED)


@pytest.fixture
def plugin(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path / "s")


async def test_a_plugin_that_goes_away_and_comes_back_is_connected_to_again_without_a_run(plugin: Elsewhere) -> None:
    async with known(plugin) as (guest, heard):
        assert guest.status().state is State.INSTALLED
        async with plugin.there():
            await guest.describe()
            status = guest.status()
            assert (status.state, status.address, status.processes) == (State.READY, plugin.address, ())
        await heard.until_state(State.UNREACHABLE)
        assert heard.last(State.UNREACHABLE).reason.startswith("the connection broke: UNAVAILABLE: ")
        assert guest.status().state is State.UNREACHABLE
        async with plugin.there():
            await heard.until(lambda: guest.status().state is State.READY)
            assert guest.status().retry_at is None


async def test_a_connection_that_broke_under_a_run_is_made_again_after_a_pause(plugin: Elsewhere) -> None:
    async with known(plugin, heartbeat=0) as (guest, heard):
        async with plugin.there():
            run = asyncio.ensure_future(anext(begin(guest, "Far", TrialHatch())))
            await asyncio.wait_for(plugin.running.wait(), BOUND)
        with pytest.raises(GuestDiedError):
            await asyncio.wait_for(run, BOUND)
        await heard.until_state(State.UNREACHABLE)
        async with plugin.there():
            await heard.until_state(State.READY, 2)
    assert heard.states == [State.STARTING, State.READY, State.UNREACHABLE, State.READY, State.STOPPED]


async def test_a_plugin_that_was_never_there_is_connected_to_when_it_comes(plugin: Elsewhere) -> None:
    async with known(plugin) as (guest, heard):
        with pytest.raises(LaunchError) as caught:
            await guest.describe()
        assert caught.value.message.endswith(heard.last(State.UNREACHABLE).reason)
        async with plugin.there():
            await heard.until_state(State.READY)
            assert [described.name for described in await guest.describe()] == ["Far"]
            assert plugin.asked >= 1


async def test_a_run_does_not_wait_for_the_next_attempt(plugin: Elsewhere) -> None:
    async with known(plugin, heartbeat=0, policy=PATIENT) as (guest, heard):
        with pytest.raises(LaunchError):
            await guest.describe()
        retry_at = guest.status().retry_at
        assert retry_at is not None
        async with plugin.there():
            await guest.describe()
        assert heard.states == [State.STARTING, State.UNREACHABLE, State.READY]


async def test_one_attempt_is_shared_by_all_who_wait_for_it(plugin: Elsewhere) -> None:
    async with plugin.there(), known(plugin, heartbeat=0) as (guest, _):
        await asyncio.gather(*(guest.describe() for _ in range(20)))
        assert plugin.asked == 1


async def test_a_plugin_that_does_not_answer_is_unresponsive_and_nothing_is_given_up(plugin: Elsewhere) -> None:
    async with plugin.there(), known(plugin) as (guest, heard):
        run = asyncio.ensure_future(anext(begin(guest, "Far", TrialHatch())))
        await asyncio.wait_for(plugin.running.wait(), BOUND)
        assert guest.status().runs == 1
        plugin.answers.clear()
        await heard.until_state(State.UNRESPONSIVE)
        assert heard.last(State.UNRESPONSIVE).reason == "no answer within 0.05 s"
        plugin.answers.set()
        await heard.until_state(State.READY, 2)
        assert heard.last(State.READY).reason == "it answers again"
        assert not run.done()
        run.cancel()
        await asyncio.wait([run])


async def test_a_run_that_the_connection_broke_under_shows_it_at_once(plugin: Elsewhere) -> None:
    async with known(plugin, heartbeat=0, policy=PATIENT) as (guest, heard):
        async with plugin.there():
            run = asyncio.ensure_future(anext(begin(guest, "Far", TrialHatch())))
            await asyncio.wait_for(plugin.running.wait(), BOUND)
        with pytest.raises(GuestDiedError, match=r"the connection to plugin .far. at unix:.* broke: "):
            await asyncio.wait_for(run, BOUND)
        await heard.until_state(State.UNREACHABLE)
        assert guest.status().runs == 0


async def test_those_who_wait_for_a_connection_hear_that_the_host_stops(plugin: Elsewhere) -> None:
    plugin.answers.clear()
    async with plugin.there(), known(plugin) as (guest, _):
        waiting = asyncio.ensure_future(guest.describe())
        while not plugin.asked:  # noqa: ASYNC110 - gRPC sets no event before the servicer counts
            await asyncio.sleep(0.01)
        await guest.stop()
        with pytest.raises(LaunchError, match=r"plugin 'far' at unix:.*: the host gave the connection up"):
            await waiting


async def test_one_that_was_replaced_is_not_sought_any_more(plugin: Elsewhere) -> None:
    async with known(plugin, heartbeat=0) as (guest, heard):
        async with plugin.there():
            run = asyncio.ensure_future(anext(begin(guest, "Far", TrialHatch())))
            await asyncio.wait_for(plugin.running.wait(), BOUND)
            guest.leave()
        with pytest.raises(GuestDiedError):
            await asyncio.wait_for(run, BOUND)
    assert heard.states == [State.STARTING, State.READY, State.DRAINING, State.STOPPED]


async def test_a_plugin_that_comes_back_as_another_is_told_of(
    plugin: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    told = "offers something else than before; `enfilade plugins restart far` takes it in"
    async with known(plugin) as (guest, _):
        async with plugin.there():
            await guest.describe()
        plugin.offers = ["Farther"]
        async with plugin.there(), asyncio.timeout(BOUND):
            while told not in caplog.text:  # noqa: ASYNC110 - what is heard in passing is no change of state
                await asyncio.sleep(0.01)


async def test_an_address_that_cannot_be_used_is_not_tried_again(tmp_path: Path) -> None:
    guest = Launcher().guest(Candidate(plugin="far", address="grpcs://localhost:1"))
    assert isinstance(guest, RemoteGuest)
    heard = Heard(guest)
    with pytest.raises(ConfigError):
        await guest.describe()
    assert heard.states == [State.STARTING, State.STOPPED]
    assert guest.status().reason.startswith("plugin 'far': a grpcs:// address needs the files")
    await guest.stop()

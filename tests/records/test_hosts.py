"""Hosts that share a store: a quota crossed by two runs at once, and a server that goes away in the middle of a run."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.config import Config
from enfilade.host import Host
from enfilade.outcome import Outcome, Status
from enfilade.store.database import Database
from enfilade.store.runs import list_runs, show_run
from enfilade.store.settings import StoreSettings
from enfilade.store.state import State
from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import ErrorCode
from tests.support.enfilade_command import SECONDS
from tests.support.postgres import PostgresServer
from tests.support.recorded_command import Recorded

AGENT = AgentConfig(strategy="function-calling", model="demo")


def config(url: str, **more: object) -> Config:
    """A host in one process, with a store."""
    store = {"url": url} | {name: more.pop(name) for name in ("on_failure",) if name in more}
    return Config.model_validate({"isolation": "inprocess", "store": store, **more})


async def test_of_two_runs_of_two_hosts_that_cross_a_quota_at_once_exactly_one_is_refused(anywhere: Recorded) -> None:
    layers = [{"kind": "quota", "per": ["user", "plugin", "model"], "calls": 1, "window": 3600}]
    async with AsyncExitStack() as stack:
        hosts = [await stack.enter_async_context(Host(config(anywhere.url, layers=layers))) for _ in range(2)]
        for user in ("ada", "bob", "eve"):
            asked = [host.ask(AGENT, Question("Hello?", user_id=user)) for host in hosts]
            outcomes = await asyncio.gather(*asked)
            assert sorted(_word(outcome) for outcome in outcomes) == ["quota_exceeded", "succeeded"]


def _word(outcome: Outcome) -> str:
    return outcome.status.value if outcome.error is None else outcome.error.code.value


@pytest.fixture
async def stopped_server(server: PostgresServer) -> AsyncIterator[PostgresServer]:
    """A server that the test may stop; it runs again afterwards."""
    yield server
    server.start()


def crashing(server: PostgresServer) -> AgentConfig:
    """An agent whose tool takes the records' server down."""

    def weather(city: str) -> str:
        """Tells the weather.

        Args:
            city: The city.
        """
        server.stop(signal.SIGQUIT)
        return f"rain in {city}"

    return AGENT.model_copy(update={"tools": (ToolEntry(tool=weather),)})


async def test_a_run_goes_on_when_its_records_server_goes_away_and_the_records_arrive_later(
    stopped_server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = await stopped_server.database()
    async with Host(config(url)) as host, asyncio.timeout(4 * SECONDS):
        outcome = await host.ask(crashing(stopped_server), "What is the weather in Oban?")
        assert outcome.status is Status.SUCCEEDED
        assert outcome.rounds[0].calls[0].result == "rain in Oban"
        told = ("the server does not answer", "shutting down")
        while not any(word in caplog.text for word in told):  # noqa: ASYNC110 - a log has no event
            await asyncio.sleep(0.02)
        stopped_server.start()
    database = await Database.open(StoreSettings(url=url))
    (run,) = await list_runs(database)
    shown = await show_run(database, run.id)
    await database.aclose()
    assert (run.status, run.answer) == (State.SUCCEEDED, outcome.answer)
    assert [call.result for call in shown.rounds[0].calls] == ["rain in Oban"]


async def test_a_run_fails_with_its_records_server_where_it_is_to_and_says_which(
    stopped_server: PostgresServer,
) -> None:
    url = await stopped_server.database()
    async with Host(config(url, on_failure="fail")) as host, asyncio.timeout(4 * SECONDS):
        outcome = await host.ask(crashing(stopped_server), "What is the weather in Oban?")
        assert outcome.error is not None
        assert (outcome.status, outcome.error.code) == (Status.FAILED, ErrorCode.STORE_FAILED)
        assert url.rpartition("@")[2] in outcome.error.message
        assert outcome.error.details["store"] == "gone"
        stopped_server.start()
    database = await Database.open(StoreSettings(url=url))
    (run,) = await list_runs(database)
    await database.aclose()
    assert (run.status, run.error_code) == (State.FAILED, "store_failed")

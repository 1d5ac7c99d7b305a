"""What a program does wrong with a host is told at once, and nothing waits for ever."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate, Offer
from enfilade.config import Config
from enfilade.errors import MisuseError
from enfilade.host import Host
from tests.support import host_strategies

ECHO = AgentConfig(strategy="echo")
PLUGIN = Candidate(
    plugin="harbour",
    origin="the tests",
    offers=(Offer("echo", "host_strategies:Echo"),),
    paths=(str(Path(host_strategies.__file__).parent),),
    isolation="inprocess",
)


def a_host() -> Host:
    return Host(Config(), candidates=[PLUGIN])


@pytest.mark.parametrize(
    ("agent", "question", "words"),
    [
        (None, "?", "the agent: expected an AgentConfig, got None"),
        (
            {"model": "demo"},
            "?",
            "the agent: expected an AgentConfig, got dict ({'model': 'demo'}); give AgentConfig(**it)",
        ),
        ("demo", "?", "the agent: expected an AgentConfig, got str ('demo')"),
        (ECHO, None, "the question: expected a text or a Question, got None"),
        (ECHO, 42, "the question: expected a text or a Question, got int (42)"),
    ],
)
def test_what_is_no_agent_or_no_question_is_refused_where_it_is_given(agent: Any, question: Any, words: str) -> None:
    with pytest.raises(MisuseError) as caught:
        a_host().run(agent, question)
    assert words in caught.value.message


async def test_a_host_that_is_asked_on_another_loop_says_so_instead_of_waiting_for_ever() -> None:
    raised: list[BaseException] = []

    def elsewhere(host: Host) -> None:
        try:
            asyncio.run(host.ask(ECHO, "?"))
        except MisuseError as error:
            raised.append(error)

    async with a_host() as host:
        assert (await host.ask(ECHO, "one")).answer == "user/None: one\n"
        thread = threading.Thread(target=elsewhere, args=(host,))
        thread.start()
        await asyncio.to_thread(thread.join, 30)
        assert "run_coroutine_threadsafe" in str(raised[0])
        assert (await host.ask(ECHO, "two")).answer == "user/None: two\n"


def test_a_host_may_be_opened_once_on_each_loop() -> None:
    host = a_host()

    async def once() -> str:
        async with host:
            return (await host.ask(ECHO, "?")).answer

    assert [asyncio.run(once()), asyncio.run(once())] == ["user/None: ?\n"] * 2


def test_a_host_whose_loop_ended_without_closing_it_says_so() -> None:
    host = a_host()
    asyncio.run(host.ask(ECHO, "?"))
    with pytest.raises(MisuseError, match="is closed, and its plugins went with it"):
        asyncio.run(host.ask(ECHO, "?"))

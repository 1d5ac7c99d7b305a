"""What a program does wrong with a host is told at once, and nothing waits for ever."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.candidate import Candidate, Offer
from enfilade.config import Config
from enfilade.errors import MisuseError
from enfilade.host import Host
from enfilade.misuse import question_of
from enfilade_sdk.invocation import File
from enfilade_sdk.prompts import UserMessage
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


@pytest.mark.parametrize(
    ("question", "more", "words"),
    [
        (Question(5), {}, "the question's text: expected a text, got int (5)"),  # type: ignore[arg-type]
        ("?", {"history": ["hello"]}, "history: messages are not valid prompt messages: 0: "),
        ("?", {"history": "hello"}, "history: messages: expected a list of prompt messages, got a str"),
        ("?", {"files": [{"uri": "data:,x"}]}, "a file of the question has 2 fault(s):"),
        ("?", {"timeout": "5"}, "the run's time: expected a number of seconds above 0, got str ('5')"),
        ("?", {"timeout": 0}, "the run's time: expected a number of seconds above 0, got int (0)"),
        (Question("?", seconds=-1), {}, "the run's time: expected a number of seconds above 0, got int (-1)"),
        (Question("?"), {"timeout": 5}, "history, files and timeout go with a text; a Question holds its own"),
    ],
)
def test_what_goes_with_a_question_is_checked_where_it_is_given(
    question: Any, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        a_host().run(ECHO, question, **more)
    assert words in caught.value.message


def test_a_host_takes_a_configuration_and_nothing_else() -> None:
    with pytest.raises(MisuseError, match=r"config: expected a Config, got a dict; give Config\(\*\*it\)"):
        Host({"default_model": "demo"})  # type: ignore[arg-type]


def test_earlier_turns_and_files_may_be_dicts() -> None:
    read = question_of("?", [{"role": "user", "content": "earlier"}], [{"url": "data:,x"}])
    assert (read.history, read.files) == ((UserMessage(content="earlier"),), (File(url="data:,x"),))


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

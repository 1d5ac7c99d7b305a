"""Calls of tools that are offered no more: lc-01's kind."""

import pytest

from tests.behaviour.harness import play
from tests.support.model_calls import WEATHER, answered, ask, served
from tests.support.model_turns import call_turn, text_turn

CALL = '{"name": "weather", "arguments": {"city": "Oban"}}'
MARKED = [
    f"<tool_call>{CALL}</tool_call>",
    '<function=weather>{"city": "Oban"}</function>',
    f"[TOOL_CALLS] [{CALL}]",
    f"```json\n{CALL}\n```",
    CALL,
]


@pytest.mark.parametrize("text", MARKED)
async def test_markup_that_names_a_tool_of_the_run_is_a_call_though_it_is_not_offered_now(text: str) -> None:
    async with served([text_turn(*text)]) as (server, gateway):
        answer = await ask(gateway, known_tools=("weather",))
    assert [(name, arguments) for _, name, arguments in answer.calls] == [("weather", {"city": "Oban"})]
    assert (answer.text, answer.result.finish_reason) == ("", "tool_calls")
    assert server.bodies[0].keys() == {"model", "messages", "stream", "stream_options"}


@pytest.mark.parametrize("text", MARKED)
async def test_markup_that_names_no_tool_of_the_run_is_text(text: str) -> None:
    async with served([text_turn(text)]) as (_, gateway):
        answer = await ask(gateway, known_tools=("tides",))
    assert (answer.text, answer.calls) == (text, [])


async def test_tools_that_were_called_and_tools_that_were_offered_are_both_known() -> None:
    turns = [
        call_turn("weather", '{"city": "Oban"}'),
        text_turn(MARKED[0]),
        text_turn(MARKED[0].replace("weather", "tides")),
    ]
    async with served(turns) as (_, gateway):
        first = await ask(gateway, tools=(WEATHER,))
        for name in ("weather", "tides"):
            later = await ask(gateway, "?", *answered(first, "rain"), known_tools=("tides",))
            assert [called for _, called, _ in later.calls] == [name]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "depth", "arguments": {"pier": "B"}}</tool_call>',
        '{"name": "depth", "arguments": {"pier": "B"}}',
    ],
)
async def test_a_run_at_its_limit_does_not_answer_with_a_call_of_a_tool_it_never_made_before(text: str) -> None:
    played = await play([call_turn("moorings", '{"pier": "A"}'), text_turn(text)], "inprocess", max_iteration=1)
    assert ["tools" in request for request in played.requests] == [True, False]
    assert played.outcome.text == ""
    assert played.outcome.error is not None
    assert "limit of 1 rounds" in played.outcome.error.message


@pytest.mark.parametrize(
    "reply",
    [
        'Action:\n```json\n{"name": "moorings", "arguments": {"pier": "A"}}\n```',
        '<tool_call>{"name": "moorings", "arguments": {"pier": "A"}}</tool_call>\nObservation: 9\nFinal Answer: nine',
    ],
)
async def test_a_strategy_that_reads_calls_itself_is_given_the_text_as_it_is(reply: str) -> None:
    turns = [text_turn(f"Thought: I count.\n{reply}"), text_turn("Final Answer: Three.")]
    played = await play(turns, "inprocess", strategy="chain-of-thought")
    assert (played.calls, played.outcome.text) == ([("moorings", {"pier": "A"})], "Three.")


async def test_a_strategy_that_reads_calls_itself_may_show_one_in_its_answer() -> None:
    answer = 'Write <tool_call>{"name": "moorings", "arguments": {"pier": "A"}}</tool_call>'
    played = await play([text_turn(f"Final Answer: {answer}")], "inprocess", strategy="chain-of-thought")
    assert (played.calls, played.outcome.text) == ([], answer)

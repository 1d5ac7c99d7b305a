"""Thought that goes back to the model, and what an endpoint refuses."""

import pytest

from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import (
    AssistantMessage,
    UserMessage,
)
from tests.support.model_calls import WEATHER, answered, ask, served
from tests.support.model_rules import lacks, reasoning_is_echoed
from tests.support.model_turns import (
    delta_turn,
    error_turn,
    text_turn,
)

THOUGHT = delta_turn(
    {"role": "assistant", "reasoning_content": "I should "},
    {"reasoning_content": "ask the tool."},
    {"content": None, "tool_calls": [{"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}]},
    finish="tool_calls",
)


async def test_thought_goes_back_in_the_same_turn_and_never_shows_up_as_text() -> None:
    rule = reasoning_is_echoed("I should ask the tool.")
    async with served([THOUGHT, text_turn("Rain.")], rules=[rule]) as (_, gateway):
        first = await ask(gateway, "Weather?", tools=(WEATHER,))
        assert (first.text, first.reasoning) == ("", "I should ask the tool.")
        second = await ask(gateway, "Weather?", *answered(first, "rain"), tools=(WEATHER,))
        assert (second.text, second.reasoning) == ("Rain.", "")


async def test_thought_of_earlier_turns_does_not_go_back() -> None:
    async with served([THOUGHT, text_turn("Rain."), text_turn("Sun.")]) as (server, gateway):
        first = await ask(gateway, "Weather?", tools=(WEATHER,))
        history = [
            UserMessage(content="Weather?"),
            *answered(first, "rain"),
            AssistantMessage(content="Rain.", reasoning="Hm."),
        ]
        await ask(gateway, *history, "And now?", tools=(WEATHER,))
    assert not any("reasoning_content" in message for message in server.bodies[1]["messages"])


@pytest.mark.parametrize("field", ["reasoning", "thinking", "reasoning_content"])
async def test_thought_goes_back_in_the_field_it_came_in(field: str) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}
    turns = [delta_turn({field: "Hm."}, {"tool_calls": [call]}), text_turn("Rain.")]
    async with served(turns, rules=[reasoning_is_echoed("Hm.", field)]) as (_, gateway):
        first = await ask(gateway, tools=(WEATHER,))
        assert (await ask(gateway, "?", *answered(first, "r"), tools=(WEATHER,))).text == "Rain."


async def test_thought_written_into_the_text_does_not_go_back_in_a_field() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}
    turns = [delta_turn({"content": "<think>Hm.</think>"}, {"tool_calls": [call]}), text_turn("Rain.")]
    async with served(turns, rules=[lacks("reasoning_content", "reasoning")]) as (server, gateway):
        first = await ask(gateway, tools=(WEATHER,))
        assert first.message.reasoning == "Hm."
        await ask(gateway, "?", *answered(first, "r"), tools=(WEATHER,))
    assert len(server.requests) == 2


async def test_an_endpoint_that_refuses_the_echo_is_asked_once_more_without_and_never_again_with_it() -> None:
    turns = [THOUGHT, text_turn("Rain."), text_turn("Rain.")]
    async with served(turns, rules=[lacks("reasoning_content")]) as (server, gateway):
        first = await ask(gateway, tools=(WEATHER,))
        for _ in range(2):
            assert (await ask(gateway, "?", *answered(first, "rain"), tools=(WEATHER,))).text == "Rain."
    assert len(server.refused) == 1
    assert len(server.requests) == 4


@pytest.mark.parametrize(("echo", "refused", "succeeds"), [(True, True, False), (False, False, True)])
async def test_the_echo_can_be_forced_and_forbidden(echo: bool, refused: bool, succeeds: bool) -> None:
    turns = [THOUGHT, text_turn("Rain.")]
    async with served(turns, rules=[lacks("reasoning_content")], settings={"echo_reasoning": echo}) as (
        server,
        gateway,
    ):
        first = await ask(gateway, tools=(WEATHER,))
        second = ask(gateway, "?", *answered(first, "rain"), tools=(WEATHER,))
        if succeeds:
            assert (await second).text == "Rain."
        else:
            with pytest.raises(ModelFailedError, match="Unrecognized request argument supplied: reasoning_content"):
                await second
    assert bool(server.refused) == refused


@pytest.mark.parametrize("field", ["stream_options", "stop"])
async def test_what_is_optional_and_refused_by_name_is_left_out_from_then_on(field: str) -> None:
    async with served([text_turn("x"), text_turn("x")], rules=[lacks(field)]) as (server, gateway):
        for _ in range(2):
            assert (await ask(gateway, stop=("Observation",))).text == "x"
    assert len(server.requests) == 3
    assert [field in body for body in server.bodies] == [True, False, False]


async def test_two_refusals_one_after_another_are_both_learned() -> None:
    async with served([text_turn("x")], rules=[lacks("stream_options"), lacks("stop")]) as (server, gateway):
        assert (await ask(gateway, stop=("Observation",))).text == "x"
    assert len(server.requests) == 3


async def test_a_refusal_of_something_else_is_an_error_at_once() -> None:
    async with served([error_turn(400, {"error": {"message": "temperature must be below 2"}})]) as (server, gateway):
        with pytest.raises(ModelFailedError, match="HTTP 400: temperature must be below 2"):
            await ask(gateway, stop=("Observation",))
    assert len(server.requests) == 1

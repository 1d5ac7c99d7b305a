"""What goes out to an OpenAI-compatible endpoint."""

from typing import Any

import pytest

from enfilade_sdk.prompts import (
    AssistantMessage,
    ImagePart,
    ImageUrl,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from tests.support.model_calls import WEATHER, answered, ask, served
from tests.support.model_rules import arguments_are_objects, calls_are_answered
from tests.support.model_turns import (
    Call,
    Turn,
    call_turn,
    text_turn,
)

USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


async def test_a_conversation_with_a_tool_goes_out_in_the_form_that_strict_endpoints_want() -> None:
    turns = [call_turn("weather", {"city": "Oban"}), text_turn("Rain.")]
    rules = [arguments_are_objects, calls_are_answered]
    async with served(turns, rules=rules) as (server, gateway):
        first = await ask(gateway, SystemMessage(content="Be brief."), "Weather in Oban?", tools=(WEATHER,))
        assert first.calls == [("call_1", "weather", {"city": "Oban"})]
        history = [
            SystemMessage(content="Be brief."),
            UserMessage(content="Weather in Oban?"),
            *answered(first, "rain"),
        ]
        assert (await ask(gateway, *history, tools=(WEATHER,))).text == "Rain."
    assert server.bodies[1]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Oban?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oban"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    ]
    assert server.bodies[1]["tools"] == [WEATHER.to_openai()]


async def test_nothing_that_was_given_is_changed() -> None:
    tool = WEATHER.model_copy(deep=True)
    message = AssistantMessage(content="x", tool_calls=(ToolCall(id="a", name="we ather", arguments="broken"),))
    given = message.model_copy(deep=True)
    async with served([text_turn("Rain.")]) as (server, gateway):
        await ask(gateway, "?", given, ToolMessage(tool_call_id="a", content="r"), tools=(tool,), parameters={"n": 2})
    assert (tool, given) == (WEATHER, message)
    (call,) = server.bodies[0]["messages"][1]["tool_calls"]
    assert call["function"] == {"name": "we_ather", "arguments": "{}"}
    assert "n" not in server.bodies[0]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (None, None),
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("weather", {"type": "function", "function": {"name": "weather"}}),
        ({"name": "weather"}, {"type": "function", "function": {"name": "weather"}}),
        ({"type": "function", "function": {"name": "weather"}}, {"type": "function", "function": {"name": "weather"}}),
    ],
)
async def test_a_tool_choice_goes_out_with_its_tools(choice: Any, sent: Any) -> None:
    async with served([text_turn("x"), text_turn("x")]) as (server, gateway):
        await ask(gateway, tools=(WEATHER,), tool_choice=choice)
        await ask(gateway, tool_choice=choice)
    assert server.bodies[0].get("tool_choice") == sent
    assert not {"tools", "tool_choice"} & server.bodies[1].keys()


async def test_parameters_of_the_request_win_over_those_of_the_model_and_none_is_left_out() -> None:
    settings = {"parameters": {"temperature": 0.5, "top_p": 0.9, "seed": 1}}
    async with served([text_turn("x")], settings=settings) as (server, gateway):
        await ask(
            gateway, parameters={"temperature": 0, "seed": None, "max_tokens": 9, "model": "other", "stream": False}
        )
    body = server.bodies[0]
    assert {name: body.get(name) for name in ("temperature", "top_p", "max_tokens", "model", "stream")} == {
        "temperature": 0, "top_p": 0.9, "max_tokens": 9, "model": "m", "stream": True,
    }  # fmt: skip
    assert "seed" not in body


async def test_stop_words_go_only_to_models_that_take_them() -> None:
    async with served([text_turn("x")]) as (server, gateway):
        await ask(gateway, stop=("Observation:", ""))
    assert server.bodies[0]["stop"] == ["Observation:"]
    async with served([text_turn("x")], settings={"stop_words": False}) as (server, gateway):
        await ask(gateway, stop=("Observation:",), parameters={"stop": "x"})
    assert "stop" not in server.bodies[0]


async def test_images_go_only_to_models_that_see() -> None:
    question = UserMessage(
        content=[
            TextPart(text="What is it?"),
            ImagePart(image_url=ImageUrl(url="data:image/png;base64,AA==", detail="low")),
        ]
    )
    async with served([text_turn("x")], settings={"vision": True}) as (server, gateway):
        await ask(gateway, question)
    assert server.bodies[0]["messages"][0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
    ]
    async with served([text_turn("x")]) as (server, gateway):
        await ask(gateway, question)
    content = server.bodies[0]["messages"][0]["content"]
    assert content == "What is it?\n[an image was left out: this model does not take images]"


async def test_a_model_that_cannot_stream_gives_one_chunk() -> None:
    turn = Turn(text=["Hello ", "there."], calls=[Call("weather", {"city": "Oban"})], usage=USAGE)
    async with served([turn], settings={"streaming": False}) as (server, gateway):
        answer = await ask(gateway, tools=(WEATHER,))
    assert not {"stream", "stream_options"} & server.bodies[0].keys()
    assert len(answer.chunks) == 1
    assert (answer.text, answer.calls) == ("Hello there.", [("call_1", "weather", {"city": "Oban"})])
    assert answer.result.usage.total_tokens == 15


async def test_the_completions_form_sends_one_text() -> None:
    async with served([text_turn("Thought: ", "done.")]) as (server, gateway):
        answer = await ask(gateway, "Question: x\nThought:", completion=True, stop=("Observation",))
    assert (answer.text, answer.result.finish_reason) == ("Thought: done.", "stop")
    assert server.requests[0].path == "/v1/completions"
    assert server.bodies[0]["prompt"] == "Question: x\nThought:"
    assert not {"messages", "tools"} & server.bodies[0].keys()


async def test_a_base_model_is_always_asked_in_the_completions_form() -> None:
    async with served([text_turn("x")], settings={"completion": True}) as (server, gateway):
        await ask(gateway, SystemMessage(content="One."), "Two.")
    assert server.bodies[0]["prompt"] == "One.\n\nTwo."

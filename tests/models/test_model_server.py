"""The scripted server of the tests itself: as a process, with its rules, and for many runs at once."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from enfilade.models.gateway import ModelGateway
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import AssistantMessage, ToolCall, ToolMessage
from tests.support.model_calls import WEATHER, answered, ask, served
from tests.support.model_rules import arguments_are_objects, calls_are_answered, tools_are_plain
from tests.support.model_turns import call_turn, text_turn


async def test_the_script_says_what_comes_and_ends_with_an_error() -> None:
    async with served([text_turn("one"), text_turn("two")]) as (_, gateway):
        assert [(await ask(gateway)).text for _ in range(2)] == ["one", "two"]
        with pytest.raises(ModelFailedError, match="the script has no turn 3"):
            await ask(gateway)


async def test_the_last_turn_can_be_repeated() -> None:
    async with served([text_turn("one"), text_turn("two")], repeat_last=True) as (_, gateway):
        assert [(await ask(gateway)).text for _ in range(4)] == ["one", "two", "two", "two"]


async def test_stop_words_can_be_obeyed_across_pieces() -> None:
    turn = text_turn("Action: x\nObser", "vation: made up")
    async with served([turn], apply_stop=True) as (_, gateway):
        assert (await ask(gateway, stop=("Observation",))).text == "Action: x\n"


async def test_a_turn_can_be_chosen_by_the_rounds_of_each_conversation() -> None:
    async with served([call_turn("weather"), text_turn("Rain.")], by_round=True) as (_, gateway):
        firsts = await asyncio.gather(*(ask(gateway, tools=(WEATHER,)) for _ in range(5)))
        seconds = await asyncio.gather(
            *(ask(gateway, "?", *answered(first, "r"), tools=(WEATHER,)) for first in firsts)
        )
    assert {answer.text for answer in seconds} == {"Rain."}


@pytest.mark.parametrize(
    ("rule", "request_", "accepted"),
    [
        (arguments_are_objects, {"messages": [{"role": "user", "content": "x"}]}, True),
        (arguments_are_objects, {"messages": [{"tool_calls": [{"function": {"arguments": {"a": 1}}}]}]}, False),
        (arguments_are_objects, {"messages": [{"tool_calls": [{"function": {"arguments": "[]"}}]}]}, False),
        (arguments_are_objects, {"messages": [{"tool_calls": [{"function": {"arguments": "{"}}]}]}, False),
        (tools_are_plain, {"tools": [WEATHER.to_openai()]}, True),
        (tools_are_plain, {"tools": [{"function": {"description": "x", "parameters": {"type": "object"}}}]}, False),
        (tools_are_plain, {"tools": [{"function": {"name": "x", "description": None, "parameters": {}}}]}, False),
    ],
)  # fmt: skip
def test_rules_refuse_what_strict_endpoints_refuse(rule: Any, request_: dict[str, Any], accepted: bool) -> None:
    assert (rule(request_) is None) == accepted


@pytest.mark.parametrize("results", [[], ["b"], ["a", "a"]])
def test_a_call_without_exactly_one_answer_is_refused(results: list[str]) -> None:
    call = {"id": "a", "function": {"name": "weather", "arguments": "{}"}}
    answers = [{"role": "tool", "tool_call_id": result, "content": "x"} for result in results]
    messages = [{"role": "user"}, {"role": "assistant", "tool_calls": [call]}, *answers]
    assert calls_are_answered({"messages": messages}) is not None


async def test_a_refused_request_gets_400_and_plays_no_turn() -> None:
    broken = AssistantMessage(tool_calls=(ToolCall(id="a", name="weather", parsed={}),))
    async with served([text_turn("x")], rules=[calls_are_answered]) as (server, gateway):
        with pytest.raises(ModelFailedError, match="HTTP 400: calls without an answer"):
            await ask(gateway, "?", broken)
        assert (await ask(gateway, "?", broken, ToolMessage(tool_call_id="a", content="r"))).text == "x"
    assert server.refused == ["calls without an answer: ['a']"]


async def test_as_a_process_it_serves_a_script_file_and_records_what_was_asked(tmp_path: Path) -> None:
    script, record = tmp_path / "script.json", tmp_path / "requests.jsonl"
    event = {"choices": [{"index": 0, "delta": {"content": "two"}, "finish_reason": "stop"}]}
    turns = [
        {"text": ["o", "ne"], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
        {"events": [event]},
        {"raw_sse_hex_parts": [f"data: {json.dumps(event)}\n\n".encode().hex()]},
        {"calls": [{"name": "weather", "arguments": {"city": "Oban"}}]},
        {"status": 500, "body": "broken"},
    ]
    script.write_text(json.dumps({"turns": turns, "reject_if_request_has": "stop", "rules": ["tools_are_plain"]}))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.model_server", str(script), "--record", str(record),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    gateway = ModelGateway({"m": ModelSettings(base_url=url, max_retries=0)}, "m")
    assert [(await ask(gateway, stop=("x",))).text for _ in range(3)] == ["one", "two", "two"]
    assert (await ask(gateway, tools=(WEATHER,))).calls == [("call_1", "weather", {"city": "Oban"})]
    with pytest.raises(ModelFailedError, match="HTTP 500: broken"):
        await ask(gateway)
    await gateway.aclose()
    process.stdin.close()
    assert await process.wait() == 0
    requests = [json.loads(line) for line in record.read_text().splitlines()]
    assert ["stop" in request["body"] for request in requests] == [True, False, False, False, False, False]

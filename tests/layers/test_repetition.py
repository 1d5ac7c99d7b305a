from typing import Any

import pytest
from pydantic import ValidationError

from enfilade.layers.repetition import Repetition
from enfilade_sdk.errors import ErrorCode, LimitExceededError
from enfilade_sdk.prompts import ToolRequest, ToolResult
from tests.layers.scenario import collected, hosted, run_layers, told, tool_inner


async def _texts(layers: Any, call: Any, arguments: Any, times: int, tool: str = "look") -> list[str]:
    found = []
    for _ in range(times):
        items = await collected(call(ToolRequest(tool, arguments)))
        found.append(items[-1].text)
    return found


async def test_the_same_call_is_made_then_told_then_stopped() -> None:
    layers, inner = run_layers([Repetition(tell_after=2, stop_after=4)]), tool_inner()
    call = layers.tool_calls(inner.stream)
    texts = await _texts(layers, call, '{"a": 1}', 4)
    assert texts[:2] == ["seen", "seen"]
    assert texts[2].startswith("this call was not made: look has been asked for 3 times with exactly these arguments")
    assert texts[3].startswith("this call was not made: look has been asked for 4 times")
    assert inner.opened == 2
    with pytest.raises(LimitExceededError, match=r"'look' was asked for 5 times .* limit is stop_after = 4") as caught:
        await collected(call(ToolRequest("look", '{"a": 1}')))
    assert layers.interruption.error is caught.value


async def test_the_order_and_spacing_of_arguments_make_no_difference() -> None:
    layers = run_layers([Repetition(tell_after=1, stop_after=9)])
    call = layers.tool_calls(tool_inner().stream)
    await _texts(layers, call, '{"a": 1, "b": [2]}', 1)
    assert "not made" in (await _texts(layers, call, '{"b":[2],"a":1}', 1))[0]
    assert "not made" in (await _texts(layers, call, {"b": [2], "a": 1}, 1))[0]


async def test_other_arguments_and_other_tools_are_other_calls() -> None:
    layers, inner = run_layers([Repetition(tell_after=1, stop_after=9)]), tool_inner()
    call = layers.tool_calls(inner.stream)
    for number in range(5):
        await _texts(layers, call, {"a": number}, 1)
    await _texts(layers, call, {"a": 1}, 1, tool="listen")
    await _texts(layers, call, "not JSON {", 1)
    assert inner.opened == 7


async def test_a_result_that_differs_begins_the_count_anew() -> None:
    inner = tool_inner(*[[ToolResult(f"{number} %")] for number in range(20)])
    layers = run_layers([Repetition(tell_after=2, stop_after=3)])
    assert await _texts(layers, layers.tool_calls(inner.stream), "{}", 20) == [f"{number} %" for number in range(20)]


async def test_exempt_tools_may_be_called_as_often_as_the_model_likes() -> None:
    layers, inner = run_layers([Repetition(tell_after=1, stop_after=2, exempt=("wait_*",))]), tool_inner()
    await _texts(layers, layers.tool_calls(inner.stream), "{}", 9, tool="wait_for_it")
    assert inner.opened == 9


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_a_model_that_goes_in_circles_is_stopped(isolation: Any) -> None:
    agent = told(*[["calculator", {"expression": "1+1"}]] * 10, brave=True, tools=["calculator"])
    async with hosted([Repetition()], isolation=isolation) as host:
        outcome = await host.ask(agent, "?")
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.LIMIT_EXCEEDED
    assert outcome.error.details == {"limit": "stop_after", "value": 6, "tool": "calculator"}
    assert [call.is_error for call in outcome.rounds[0].calls[:6]] == [False] * 3 + [True] * 3


def test_telling_comes_before_stopping() -> None:
    with pytest.raises(ValidationError, match=r"stop_after \(2\) must be above tell_after \(2\)"):
        Repetition(tell_after=2, stop_after=2)

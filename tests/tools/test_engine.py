"""The engine between a strategy and its tools: what is offered, what is called, and whatever a tool raises."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import QuotaExceededError, ToolFailedError
from enfilade_sdk.messages import (
    ToolInvokeMessage,
    json_message,
    text_message,
)
from tests.support.tool_calls import ForeignTool, call, call_once, engine_of


async def test_the_menu_is_the_callers_to_keep_and_change() -> None:
    tool = ForeignTool(
        "weather", {"type": "object", "properties": {"city": {"type": "string"}}}, description="Tells it."
    )
    async with engine_of(tool) as engine:
        [first] = engine.menu()
        assert first.to_openai() == {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells it.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
        first.parameters["properties"].clear()
        assert engine.menu()[0].parameters["properties"] == {"city": {"type": "string"}}


async def test_a_call_gives_its_messages_and_then_one_result() -> None:
    done = await call_once(ForeignTool("t", answers=[text_message("a"), json_message({"b": [1, "é"]})]))
    assert done.kinds == ["text", "json"]
    assert done.text == 'a\n{"b":[1,"é"]}'
    assert done.result.is_error is False
    assert done.result.details["arguments"] == {}
    assert done.result.details["provider"] == "foreign"
    assert "code" not in done.result.details
    assert done.result.details["seconds"] == done.result.seconds > 0


WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"type": "string", "enum": ["metric", "imperial"]},
        "max_rows": {"type": "integer"},
    },
    "required": ["city"],
}


async def test_what_the_user_fixed_wins_and_is_not_offered() -> None:
    tool = ForeignTool("weather", WEATHER, ["rain"])
    entry = ToolEntry(
        tool=tool, fixed={"unit": "metric", "max_rows": 0}, description="The user's words.", required=True
    )
    async with engine_of(entry) as engine:
        [offered] = engine.menu()
        done = await call(engine, "weather", '{"city": "Oban", "unit": "imperial", "max_rows": 99}')
    assert offered.parameters == {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    assert offered.description == "The user's words."
    assert tool.calls == [{"city": "Oban", "unit": "metric", "max_rows": 0}]
    assert done.result.details["arguments"] == tool.calls[0]
    assert done.result.details["dropped"] == ["unit", "max_rows"]


async def test_a_secret_of_the_user_reaches_the_tool_and_nothing_else() -> None:
    declared = [{"name": "q", "type": "string"}, {"name": "key", "type": "secret-input", "required": True}]
    tool = ForeignTool("search", declared, [RuntimeError("401 for key swordfish-99")])
    entry = ToolEntry(tool=tool, fixed={"key": "swordfish-99"}, required=True)
    done = await call_once(entry, "tides")
    assert tool.calls == [{"q": "tides", "key": "swordfish-99"}]
    assert done.text == "the tool search failed: RuntimeError: 401 for key ***"
    assert "swordfish" not in repr(done)


async def test_an_unknown_tool_is_answered_with_the_names_there_are() -> None:
    async with engine_of(ForeignTool("get_berths"), ForeignTool("weather")) as engine:
        done = await call(engine, "list_berths")
    assert done.result.is_error
    assert done.text == (
        "there is not a tool named list_berths. Did you mean 'get_berths'? The tools are: get_berths, weather"
    )
    assert done.result.details["code"] == "tool_not_found"


@pytest.mark.parametrize("name", ["", "x" * 100_000, "a\ud800", "../etc", "{}"])
async def test_any_name_may_be_asked_for(name: str) -> None:
    async with engine_of(ForeignTool("weather")) as engine:
        done = await call(engine, name)
    assert done.text.startswith("there is not a tool named ")
    assert len(done.text) < 300


async def test_without_tools_that_is_said() -> None:
    assert (await call(ToolEngine([]), "x")).text == "there is not a tool named x; there are no tools at all"


async def test_names_are_made_valid_and_mapped_back() -> None:
    tools = [ForeignTool("weather.get", answers=["dotted"]), ForeignTool("weather_get", answers=["plain"])]
    async with engine_of(*tools) as engine:
        assert engine.names == ["weather_get_2", "weather_get"]
        assert (await call(engine, "weather_get_2")).text == "dotted"
        assert (await call(engine, "weather_get")).text == "plain"
        assert (await call(engine, "weather.get")).text == "dotted"


async def test_arguments_that_do_not_fit_never_reach_the_tool() -> None:
    tool = ForeignTool("weather", WEATHER)
    done = await call_once(tool, '{"city": ["Oban"]}')
    assert tool.calls == []
    assert done.result.is_error
    assert 'city: expected a string, got ["Oban"]' in done.text
    assert done.result.details["code"] == "invalid_params"
    assert done.result.details["arguments"] == '{"city": ["Oban"]}'


async def test_the_callers_arguments_are_not_the_tools() -> None:
    class Greedy(ForeignTool):
        async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
            arguments["rows"].append(3)
            yield text_message("done")

    given = {"rows": [1, 2]}
    await call_once(Greedy("t", {"type": "object", "properties": {"rows": {"type": "array"}}}), given)
    assert given == {"rows": [1, 2]}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionError("station offline"), "the tool t failed: ConnectionError: station offline"),
        (ValueError(), "the tool t failed: ValueError"),
        (KeyError("city"), "the tool t failed: KeyError: 'city'"),
        (ToolFailedError("ask again at six"), "the tool t failed: ask again at six"),
        (SystemExit(3), "the tool t failed: SystemExit: 3"),
        (asyncio.CancelledError(), "the tool t failed: CancelledError"),
        (TimeoutError("slow server"), "the tool t failed: TimeoutError: slow server"),
        (GeneratorExit(), "the tool t failed: GeneratorExit"),
        (
            ExceptionGroup("two", [ValueError("a"), KeyError("b")]),
            "the tool t failed: ExceptionGroup: two: ValueError: a; KeyError: 'b'",
        ),
    ],
)
async def test_whatever_a_tool_raises_is_a_result(error: BaseException, text: str) -> None:
    done = await call_once(ForeignTool("t", answers=[error]))
    assert (done.text, done.result.is_error) == (text, True)
    assert done.result.details["code"] == "tool_failed"


async def test_a_function_in_a_thread_that_raises_keyboard_interrupt_ends_its_call_alone() -> None:
    def interrupts() -> str:
        raise KeyboardInterrupt

    done = await call_once(interrupts)
    assert (done.text, done.result.is_error) == ("the tool interrupts failed: RuntimeError: KeyboardInterrupt", True)


@pytest.mark.parametrize("kind", ["plain", "awaited", "generator", "async generator"])
@pytest.mark.parametrize("error", [ConnectionError("station offline"), StopIteration("x"), SystemExit(1)])
async def test_whatever_a_function_raises_is_a_result(kind: str, error: BaseException) -> None:
    def plain() -> None:
        raise error

    async def awaited() -> None:
        raise error

    def generator() -> Iterator[str]:
        yield "first "
        raise error

    async def agenerator() -> AsyncIterator[str]:
        yield "first "
        raise error

    functions: dict[str, Callable[..., object]] = {
        "plain": plain,
        "awaited": awaited,
        "generator": generator,
        "async generator": agenerator,
    }
    done = await call_once(functions[kind])
    assert done.result.is_error
    assert "failed: " in done.text
    assert ("before that it gave:\nfirst" in done.text) is ("generator" in kind)


async def test_an_errors_own_code_is_kept() -> None:
    done = await call_once(ForeignTool("t", answers=[QuotaExceededError("no searches left today")]))
    assert done.result.details["code"] == "quota_exceeded"
    assert done.text == "the tool t failed: no searches left today"


async def test_an_exception_without_a_text_of_its_own_is_named() -> None:
    class RudeError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert (await call_once(ForeignTool("t", answers=[RudeError()]))).text == "the tool t failed: RudeError"


async def test_what_is_no_message_is_taken_for_what_it_is() -> None:
    done = await call_once(ForeignTool("t", answers=["text", {"a": 1}, 7, None]))
    assert done.text == 'text\n{"a":1}\n7'


async def test_a_tool_that_gives_no_stream_at_all_is_a_fault_of_the_tool() -> None:
    class Wrong(ForeignTool):
        def invoke(self, arguments: dict[str, Any]) -> Any:
            return ["not a stream"]

    done = await call_once(Wrong("t"))
    assert done.text.startswith("the tool t failed: TypeError")


async def test_a_fault_of_the_clean_up_is_a_fault_of_the_tool() -> None:
    async def untidy() -> AsyncIterator[str]:
        try:
            yield "x"
        finally:
            raise RuntimeError("cannot tidy up")

    assert (await call_once(untidy)).text.startswith("the tool untidy failed: RuntimeError: cannot tidy up")

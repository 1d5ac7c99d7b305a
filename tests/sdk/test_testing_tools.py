import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from enfilade_sdk.errors import ToolNotFoundError
from enfilade_sdk.messages import (
    ToolInvokeMessage,
    file_message,
    json_message,
    text_message,
    url_message,
    variable_message,
)
from enfilade_sdk.prompts import ToolRequest, ToolResult
from enfilade_sdk.testing import RecordedCall, ScriptedTool, ScriptedTools


async def call(does: Any, arguments: str | dict[str, Any] | None = None) -> tuple[list[ToolInvokeMessage], ToolResult]:
    tools = ScriptedTools({"t": does})
    request = ToolRequest("t", {} if arguments is None else arguments, "call_1")
    answers = [answer async for answer in tools.stream(request)]
    result = answers.pop()
    assert isinstance(result, ToolResult)
    return [answer for answer in answers if isinstance(answer, ToolInvokeMessage)], result


def plain(text: str, times: int = 1) -> str:
    """Repeats a text.

    More about it.
    """
    return text * times


async def awaited(text: str) -> dict[str, str]:
    return {"said": text}


def yielding(text: str) -> Iterator[Any]:
    yield text
    yield {"said": text}


async def yielding_async(text: str) -> AsyncIterator[Any]:
    yield text
    yield url_message("https://e.org")


@pytest.mark.parametrize(
    ("does", "types", "text"),
    [
        ("verbatim", ["text"], "verbatim"),
        (41.5, ["text"], "41.5"),
        (None, ["text"], "null"),
        ({"a": [1]}, ["json"], '{"a":[1]}'),
        ([1, 2], ["json"], "[1,2]"),
        (b"\xff", ["blob"], "[a file was given to the user]"),
        (file_message({"id": "f"}), ["file"], "[a file was given to the user]"),
        (url_message("https://e.org/a.png", "image"), ["image"], "[an image was given to the user]"),
        (
            [text_message("a"), json_message({}, suppress_output=True), variable_message("v", 1)],
            ["text", "json", "variable"],
            "a",
        ),
        (plain, ["text"], "hi"),
        (awaited, ["json"], '{"said":"hi"}'),
        (yielding, ["text", "json"], 'hi\n{"said":"hi"}'),
        (yielding_async, ["text", "link"], "hi\nresult link: https://e.org"),
    ],
)
async def test_a_tool_gives_messages_for_the_user_and_a_text_for_the_model(
    does: Any, types: list[str], text: str
) -> None:
    messages, result = await call(does, {"text": "hi"} if callable(does) else {})
    assert [message.type for message in messages] == types
    assert (result.text, result.is_error) == (text, False)


def failing(text: str) -> str:
    raise LookupError(f"no {text}")


def failing_in_the_middle(text: str) -> Iterator[str]:
    yield text
    raise LookupError


@pytest.mark.parametrize(
    ("does", "arguments", "text", "code"),
    [
        (RuntimeError("broken"), {}, "the tool t failed: broken", "tool_failed"),
        (RuntimeError(), {}, "the tool t failed: RuntimeError", "tool_failed"),
        (failing, {"text": "x"}, "the tool t failed: no x", "tool_failed"),
        (failing_in_the_middle, {"text": "x"}, "the tool t failed: LookupError", "tool_failed"),
        (object(), {}, "the tool t failed: Object of type object is not JSON serializable", "tool_failed"),
        (plain, {}, "the tool t was not called: these arguments are missing: text", "invalid_params"),
        (plain, "{", "the tool t was not called: expected a JSON object of arguments, got: {", "invalid_params"),
        (plain, "[1]", "the tool t was not called: expected a JSON object of arguments, got: [1]", "invalid_params"),
    ],
)
async def test_a_tools_failure_is_a_result(does: Any, arguments: Any, text: str, code: str) -> None:
    _, result = await call(does, arguments)
    assert (result.text, result.is_error, result.details["code"]) == (text, True, code)


async def test_arguments_may_come_as_json_text() -> None:
    _, result = await call(plain, '{"text": "ab", "times": 2}')
    assert result.text == "abab"
    assert result.details["arguments"] == {"text": "ab", "times": 2}


async def test_calls_are_remembered_with_their_ids_also_those_that_fail() -> None:
    tools = ScriptedTools({"t": RuntimeError("x")})
    for arguments in ({"a": 1}, "not json"):
        async for _ in tools.stream(ToolRequest("t", arguments, "call_9")):
            pass
    assert tools.calls == [RecordedCall("t", {"a": 1}, "call_9"), RecordedCall("t", "not json", "call_9")]


async def test_a_tool_that_is_not_there_is_named_with_those_that_are() -> None:
    tools = ScriptedTools({"look": "x", "read": "y"})
    with pytest.raises(ToolNotFoundError, match="there is not a tool named lok; there are: look, read"):
        await anext(tools.stream(ToolRequest("lok", {})))
    assert tools.calls == []


def test_the_menu_is_read_from_the_functions_or_from_what_is_given() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
    menu = ScriptedTools({"plain": plain, "value": "x", "told": ScriptedTool("x", "Looks.", schema)}).menu()
    assert [(tool.name, tool.description, tool.parameters) for tool in menu] == [
        (
            "plain",
            "Repeats a text.",
            {
                "type": "object",
                "properties": {"text": {"type": "string"}, "times": {"type": "integer"}},
                "required": ["text"],
            },
        ),
        ("value", "", {"type": "object", "properties": {}}),
        ("told", "Looks.", schema),
    ]
    json.dumps([tool.to_openai() for tool in menu])

"""What becomes of the parts of a result."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.tools.fault import ReportedError
from enfilade.tools.mcp.message import Answer, read_message
from enfilade.tools.mcp.parameter_headers import header_value
from enfilade.tools.mcp.result import messages_of_result
from enfilade_sdk.messages import BlobPayload, JsonPayload, TextPayload, ToolInvokeMessage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "audio", "resource", "resource_link", "x"])},
    optional={
        "text": JSON,
        "data": JSON,
        "mimeType": JSON,
        "uri": JSON,
        "name": JSON,
        "resource": st.fixed_dictionaries({}, optional={"uri": JSON, "text": JSON, "blob": JSON}) | JSON,
    },
)


def messages(**result: Any) -> list[ToolInvokeMessage]:
    """The messages of a result."""
    return list(messages_of_result(result))


def part(**fields: Any) -> dict[str, Any]:
    """A part of a result's content."""
    return fields


def payloads(*parts: Any) -> list[Any]:
    """What is in the messages of these parts."""
    return [message.message for message in messages(content=list(parts))]


@given(st.lists(PARTS | JSON, max_size=5) | JSON, JSON)
def test_whatever_a_server_gives_as_content_becomes_messages(content: Any, structured: Any) -> None:
    for message in messages(content=content, structuredContent=structured):
        assert isinstance(message, ToolInvokeMessage)


@given(JSON)
def test_whatever_a_server_sends_is_a_message_or_none(value: Any) -> None:
    read_message(value)
    message = read_message({"jsonrpc": "2.0", "id": value, "result": value})
    assert isinstance(message, Answer)


@pytest.mark.parametrize("data", ["", "not base64!", 7, None, "AAA"])
def test_data_that_cannot_be_read_is_said_to_be_so(data: object) -> None:
    [payload] = payloads(part(type="image", data=data, mimeType="image/png"))
    assert payload == TextPayload(text="[a file of type image/png whose data cannot be read]")


def test_the_type_of_a_file_is_found_where_the_server_does_not_say_it() -> None:
    found = messages(
        content=[
            part(type="image", data="iVBORw0KGgoAAAAN"),
            part(type="resource", resource={"uri": "file:///a/b%20c.csv", "blob": "YSxi"}),
            part(type="resource", resource={"uri": "http://[", "blob": "YSxi"}),
        ]
    )
    assert [message.meta for message in found] == [
        {"mime_type": "image/png"},
        {"mime_type": "text/csv", "filename": "b c.csv"},
        {"mime_type": "application/octet-stream"},
    ]
    assert all(isinstance(message.message, BlobPayload) for message in found)


@pytest.mark.parametrize(
    ("texts", "structured", "said"),
    [
        (['{"a": 1}'], {"a": 1}, True),
        (["fine", '{"a": 1}'], {"a": 1}, True),
        (["3"], {"result": 3}, True),
        (["three"], {"content": "three"}, True),
        (["three"], {"content": "three", "more": 1}, False),
        (["fine"], {"a": 1}, False),
        ([], {"a": 1}, False),
        ([], [1], False),
    ],
)
def test_structured_content_is_kept_from_the_model_where_a_text_says_it(
    texts: list[str], structured: Any, *, said: bool
) -> None:
    content = [part(type="text", text=text) for text in texts]
    *_, last = messages(content=content, structuredContent=structured)
    assert last.message == JsonPayload(json_object=structured, suppress_output=said)


def test_structured_content_that_is_no_object_is_a_text() -> None:
    assert [message.message for message in messages(structuredContent=7)] == [TextPayload(text="7")]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (
            {"content": [part(type="text", text="no tide"), part(type="image"), part(type="text", text="today")]},
            "no tide\ntoday",
        ),
        ({"structuredContent": {"code": 7}}, '{"code":7}'),
        ({"content": []}, "it says no more than that it failed"),
    ],
)
def test_a_failure_is_told_in_the_servers_words(result: dict[str, Any], text: str) -> None:
    with pytest.raises(ReportedError) as caught:
        messages(isError=True, **result)
    assert caught.value.message == text


@pytest.mark.parametrize("text", ["plain", " edge", "ü", "=?base64?eA==?=", "a\nb", ""])
def test_a_header_carries_any_text(text: str) -> None:
    import base64

    value = header_value(text)
    assert value.isascii()
    assert "\n" not in value
    if value != text:
        assert base64.b64decode(value.removeprefix("=?base64?").removesuffix("?=")).decode() == text


def test_numbers_that_are_given_back_as_texts_are_numbers() -> None:
    for identity, number in (("7", 7), (7, 7), (None, None), ("x", None), (True, None), ("\uff19", None), (7.5, None)):
        assert read_message(json.loads(json.dumps({"jsonrpc": "2.0", "id": identity, "result": {}}))) == Answer(
            number, {}
        )

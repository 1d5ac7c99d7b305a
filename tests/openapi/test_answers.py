"""What becomes of an interface's answers."""

import asyncio
import json

import pytest

from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import ErrorCode
from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, MessageType
from tests.openapi.conftest import Opened, operation
from tests.openapi.interface_server import Answer, InterfaceServer
from tests.support.tool_calls import Called, call

PATHS = {"/x/chart": {"get": operation()}}


async def answered(opened: Opened, server: InterfaceServer, answer: Answer) -> Called:
    """What comes of a call that is answered so."""
    server.answers["GET /x/chart"] = answer
    async with opened(PATHS) as engine:
        return await call(engine, "op")


async def test_json_is_json_and_compact_for_the_model(opened: Opened, server: InterfaceServer) -> None:
    done = await answered(opened, server, Answer(b'{ "a": [1, 2],\n "b": null }'))
    assert done.kinds == [MessageType.JSON]
    assert done.text == '{"a":[1,2],"b":null}'


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer(b"42"), "42"),
        (Answer(b'"hello"'), '"hello"'),
        (Answer(b"not json"), "not json"),
        (Answer(b"plain", kind="text/plain"), "plain"),
        (Answer("grün".encode("latin-1"), kind="text/plain; charset=latin-1"), "grün"),
        (Answer(b"\xff!", kind="text/plain"), "\ufffd!"),
        (Answer(b"<a/>", kind="application/atom+xml"), "<a/>"),
        (Answer(b'{"a": 1}', kind=""), '{"a":1}'),
        (Answer(b"words", kind=""), "words"),
        (Answer(b"", status=204, kind=""), "HTTP 204: done; there is no more to it"),
        (Answer(b'{"a": 1}', kind="application/problem+json; charset=utf-8"), '{"a":1}'),
    ],
)
async def test_texts_are_texts(answer: Answer, text: str, opened: Opened, server: InterfaceServer) -> None:
    done = await answered(opened, server, answer)
    assert not done.result.is_error
    assert done.text == text


@pytest.mark.parametrize(
    ("answer", "meta"),
    [
        (Answer(b"\x89PNG\r\n\x1a\n\0", kind="image/png"), {"mime_type": "image/png", "filename": "chart"}),
        (Answer(b"%PDF-\xff", kind=""), {"mime_type": "application/pdf", "filename": "chart"}),
        (
            Answer(
                b"PK\x03\x04\xff",
                kind="application/zip",
                headers={"content-disposition": 'attachment; filename="../a b.zip"'},
            ),
            {"mime_type": "application/zip", "filename": "a b.zip"},
        ),
    ],
)
async def test_what_is_no_text_is_a_file_for_the_user(
    answer: Answer, meta: dict[str, str], opened: Opened, server: InterfaceServer
) -> None:
    done = await answered(opened, server, answer)
    [message] = done.messages
    assert isinstance(message.message, BlobPayload)
    assert message.message.blob == answer.body
    assert message.meta == meta
    assert "has been given to the user" in done.text


async def test_a_large_file_comes_in_parts(opened: Opened, server: InterfaceServer) -> None:
    data = bytes(range(256)) * 4096 * 10
    done = await answered(opened, server, Answer(data, kind="application/octet-stream"))
    parts = [message.message for message in done.messages]
    assert len(parts) == 10
    assert b"".join(part.blob for part in parts if isinstance(part, BlobChunkPayload)) == data


async def test_a_large_json_is_cut_for_the_model_with_a_note(opened: Opened, server: InterfaceServer) -> None:
    value = {"rows": ["x" * 100] * 2000}
    done = await answered(opened, server, Answer(json.dumps(value).encode()))
    assert len(done.text) < 70_000
    assert "[cut: the result has 206,010 bytes" in done.text


async def test_an_answer_above_the_limit_is_an_error(
    opened: Opened, server: InterfaceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enfilade.tools.openapi.response.MAX_BYTES", 1000)
    done = await answered(opened, server, Answer(b"x" * 1001, kind="text/plain"))
    assert done.text == "the answer has more than 1,000 bytes; ask for less, or for a part of it"
    assert done.result.details["code"] == ErrorCode.LIMIT_EXCEEDED.value


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer(b'{"detail": "no pet at /pets/7"}', 404), 'HTTP 404 Told: {"detail": "no pet at /pets/7"}'),
        (Answer(b"", 500, ""), "HTTP 500 Told"),
        (Answer(b"\0\1\2", 500, "image/png"), "HTTP 500 Told"),
        (Answer(b"wait", 429, "text/plain", {"retry-after": "30"}), "HTTP 429 Told (try again after 30): wait"),
        (
            Answer(b"<html><style>p {}</style><h1>It&nbsp;broke</h1>\n<p>badly</p></html>", 502, "text/html"),
            "HTTP 502 Told: It&nbsp;broke badly",
        ),
        (Answer(b"e" * 5000, 400, "text/plain"), f"HTTP 400 Told: {'e' * 1500}... (of 5,000 bytes)"),
    ],
)
async def test_an_error_has_status_and_beginning_of_the_body(
    answer: Answer, text: str, opened: Opened, server: InterfaceServer
) -> None:
    done = await answered(opened, server, answer)
    assert done.result.is_error
    assert done.text == f"the tool op failed: {text}"


async def test_a_redirect_is_given_as_a_link_and_not_followed(opened: Opened, server: InterfaceServer) -> None:
    done = await answered(opened, server, Answer(b"", 302, headers={"location": "/elsewhere?a=1"}))
    assert done.text == f"HTTP 302: what was asked for is at another address\nresult link: {server.url}/elsewhere?a=1"
    assert len(server.asked) == 1


async def test_an_interface_that_is_not_there_is_named(opened: Opened) -> None:
    async with opened(PATHS, base_url="http://127.0.0.1:1/v1") as engine:
        done = await call(engine, "op")
    assert done.text.startswith("the tool op failed: http://127.0.0.1:1/v1 could not be reached: ConnectError")


async def test_a_call_that_takes_too_long_is_given_up(opened: Opened) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    slow = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with slow:
        url = f"http://127.0.0.1:{slow.sockets[0].getsockname()[1]}"
        async with opened(PATHS, ToolEntry(tool="openapi:api", required=True), base_url=url, timeout=0.2) as engine:
            done = await call(engine, "op")
            assert done.text.startswith("the tool op did not end within 0.2 s")
            assert engine.abandoned == 0

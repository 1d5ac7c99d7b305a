"""What the bytes of an answer, and of a question, may hold."""

import asyncio
import json
from typing import Any

import pytest

from enfilade.loopback import is_loopback
from enfilade.models import reply_stream
from enfilade.models.gateway import ModelGateway
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import ToolCallDelta
from tests.support.model_calls import WEATHER, ask, served
from tests.support.model_turns import Turn, chunk, events_turn, sse, text_turn


async def test_events_that_arrive_together_become_one_chunk_where_that_keeps_their_order() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}
    deltas: list[dict[str, Any]] = [
        {"reasoning_content": "Hm"}, {"reasoning_content": "."}, {"content": "Ra"}, {"content": "in."},
        {"tool_calls": [call]}, {"content": "More."}, {"reasoning_content": "Hm?"},
    ]  # fmt: skip
    whole = b"".join(sse(chunk(delta)) for delta in deltas) + b"data: [DONE]\n\n"
    async with served([Turn(raw=[whole])]) as (_, gateway):
        answer = await ask(gateway, tools=(WEATHER,))
    assert [(each.reasoning, each.text, len(each.tool_calls)) for each in answer.chunks] == [
        ("Hm.", "Rain.", 1),
        ("", "More.", 0),
        ("Hm?", "", 0),
    ]
    assert answer.chunks[0].tool_calls == (ToolCallDelta(0, "a", "weather", "{}"),)


async def test_an_escaped_character_cut_in_two_events_comes_out_whole() -> None:
    events = [sse(chunk({"content": text})) for text in ("a \ud83d", "\ude00 b \ud83d")]
    assert b"\\ud83d" in events[0]
    async with served([Turn(raw=[*events, sse(chunk({}, "stop"))])]) as (_, gateway):
        answer = await ask(gateway)
    assert answer.text == answer.message.content == "a \U0001f600 b \ufffd"


async def test_large_numbers_in_arguments_that_are_objects_stay_whole() -> None:
    arguments = {"n": 123456789012345678901234567890}
    call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": arguments}}
    async with served([events_turn(chunk({"tool_calls": [call]}))]) as (_, gateway):
        assert (await ask(gateway, tools=(WEATHER,))).calls == [("a", "weather", arguments)]


async def test_what_orjson_does_not_take_goes_out_all_the_same() -> None:
    async with served([text_turn("x")]) as (server, gateway):
        await ask(gateway, "half \ud83d a character", parameters={"seed": 2**70})
    assert server.bodies[0]["seed"] == 2**70
    assert server.bodies[0]["messages"][0]["content"] == "half \ufffd a character"


async def test_a_question_of_two_megabytes_goes_out_whole() -> None:
    question = "word " * 400_000
    async with served([text_turn("x")]) as (server, gateway):
        await ask(gateway, question)
    assert server.bodies[0]["messages"][0]["content"] == question


async def test_a_json_list_of_chunks_is_the_answer() -> None:
    body = [chunk({"content": "Ra"}), chunk({"content": "in."}, "stop")]
    async with served([Turn(body=body)]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_json_lines_that_stop_in_the_middle_are_no_answer() -> None:
    lines = b"".join(json.dumps(chunk({"content": text})).encode() + b"\n" for text in ("Ra", "in"))
    async with served([Turn(raw=[lines])]) as (_, gateway):
        with pytest.raises(ModelFailedError, match="in the middle of the answer"):
            await ask(gateway)


async def test_blank_and_null_events_are_nothing() -> None:
    parts = [b"\n\n \n", b"data:\n\n", b"data: null\n\n", sse(chunk({"content": "Rain."}, "stop"))]
    async with served([Turn(raw=parts)]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


@pytest.mark.parametrize("data", ["ping", '"ping"', "[]", "Keep-Alive", '{"type": "ping"}', "data: ping"])
async def test_what_only_keeps_a_connection_open_is_nothing(data: str) -> None:
    async with served([events_turn(data, chunk({"content": "Ra"}), data, chunk({"content": "in."}, "stop"))]) as (_, g):
        assert (await ask(g)).text == "Rain."


async def test_a_field_that_was_written_twice_is_one() -> None:
    events = [f"data: {json.dumps(chunk({'content': text}))}" for text in ("Ra", "in.")]
    async with served([events_turn(*events, "data: [DONE]", done=False)]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_an_answer_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_stream, "BODY_LIMIT", 1000)
    async with served([text_turn(*["word "] * 100)]) as (_, gateway):
        with pytest.raises(ModelFailedError, match="the answer has more than 1000 bytes") as caught:
            await ask(gateway)
    assert caught.value.details["type"] == "overflow"


async def test_a_reply_of_a_thousand_calls_is_refused() -> None:
    calls = [{"index": n, "id": f"c{n}", "function": {"name": "weather", "arguments": "{}"}} for n in range(1000)]
    async with served([events_turn(chunk({"tool_calls": calls}))]) as (_, gateway):
        with pytest.raises(ModelFailedError, match="more than 512 tool calls"):
            await ask(gateway, tools=(WEATHER,))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_loopback_is_told_from_the_rest(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback


@pytest.mark.parametrize(("host", "proxied"), [("127.0.0.1", False), ("models.invalid", True)])
async def test_only_what_is_elsewhere_goes_through_a_proxy(
    host: str, proxied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.readline())
        writer.close()

    async with await asyncio.start_server(proxy, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        gateway = ModelGateway({"m": ModelSettings(base_url=f"https://{host}:1/v1", max_retries=0)}, "m")
        with pytest.raises(ModelFailedError, match="there is no connection"):
            await ask(gateway)
        await gateway.aclose()
    assert bool(reached) == proxied

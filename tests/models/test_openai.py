"""Asking an OpenAI-compatible endpoint: what comes back."""

import asyncio
import json
from typing import Any

import pytest

from enfilade.models import reply_stream
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    Usage,
    UserMessage,
)
from tests.support.model_calls import WEATHER, answered, ask, served
from tests.support.model_rules import calls_are_answered
from tests.support.model_turns import (
    Call,
    Turn,
    calls_turn,
    chunk,
    delta_turn,
    events_turn,
    sse,
    text_turn,
)

USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


async def test_text_streams_and_the_result_comes_last() -> None:
    async with served([text_turn("Hello ", "there.", usage=USAGE)]) as (server, gateway):
        answer = await ask(gateway)
    assert (answer.text, answer.message) == ("Hello there.", AssistantMessage(content="Hello there."))
    assert (answer.result.finish_reason, answer.result.model) == ("stop", "scripted")
    assert answer.result.usage == Usage(prompt_tokens=12, completion_tokens=3, total_tokens=15)
    assert answer.result.seconds > 0
    assert server.bodies == [
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Hello?"}],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


async def test_each_piece_is_given_out_when_it_comes_and_not_at_the_end() -> None:
    turn = Turn(raw=[sse(chunk({"content": "Rain"}))], end="hang")
    async with served([turn]) as (_, gateway):
        stream = gateway.stream(ModelRequest(messages=(UserMessage(content="?"),)))
        assert await anext(stream) == ModelChunk("Rain")
        await stream.aclose()


async def test_usage_that_nobody_reports_is_unknown() -> None:
    async with served([text_turn("Hello.")]) as (_, gateway):
        assert (await ask(gateway)).result.usage == Usage()


async def test_a_whole_json_answer_where_a_stream_was_asked_is_the_answer() -> None:
    body = {
        "choices": [{"message": {"role": "assistant", "content": "Rain."}, "finish_reason": "stop"}],
        "usage": USAGE,
    }
    async with served([Turn(body=body)]) as (_, gateway):
        answer = await ask(gateway)
    assert (answer.text, answer.message.content, answer.result.usage.total_tokens) == ("Rain.", "Rain.", 15)


async def test_a_stream_where_a_whole_answer_was_asked_is_the_answer() -> None:
    async with served([delta_turn({"content": "Ra"}, {"content": "in."})], settings={"streaming": False}) as (
        _,
        gateway,
    ):
        assert (await ask(gateway)).text == "Rain."


async def test_json_lines_are_the_answer() -> None:
    lines = b"\n".join(
        json.dumps(each).encode() for each in (chunk({"content": "Ra"}), chunk({"content": "in."}, "stop"))
    )
    async with served([Turn(raw=[lines[:30], lines[30:]])]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_bytes_are_utf_8_whatever_the_headers_and_the_network_make_of_them() -> None:
    text = "Done ✅ café \u2028潮"
    event = json.dumps(chunk({"content": text}), ensure_ascii=False)
    whole = f": keep-alive\r\n\r\ndata:{event}\r\n\r\ndata: [DONE]\r\n\r\n".encode()
    turn = Turn(
        raw=[whole[at : at + 7] for at in range(0, len(whole), 7)],
        headers={"content-type": "text/plain; charset=latin-1"},
    )
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway)).text == text


async def test_a_stream_with_done_and_without_a_finish_reason_is_whole() -> None:
    async with served([delta_turn({"content": "Rain."}, finish=None)]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_a_stream_with_a_finish_reason_and_without_done_is_whole() -> None:
    async with served([delta_turn({"content": "Rain."}, done=False)]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_the_last_event_may_lack_its_blank_line() -> None:
    turn = Turn(raw=[sse(chunk({"content": "Rain."})), sse(chunk({}, "stop")).rstrip()])
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


@pytest.mark.parametrize("end", [b"data: [done]\n\n", b'data: "[DONE]"\n\n', b"data:[DONE]"])
async def test_the_mark_of_the_end_may_be_written_otherwise(end: bytes) -> None:
    turn = Turn(raw=[sse(chunk({"content": "Rain."})), end])
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_a_stream_without_blank_lines_is_read() -> None:
    chunks = (chunk({"content": "Ra"}), chunk({"content": "in."}), chunk({}, "stop"))
    turn = Turn(raw=[sse(each)[:-1] for each in chunks] + [b"data: [DONE]\n"])
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_what_follows_done_is_nothing() -> None:
    turn = Turn(
        raw=[sse(chunk({"content": "Rain."})), b"data: [DONE]\n\n", sse(chunk({"content": "More."})), b"data: x\n\n"]
    )
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


@pytest.mark.parametrize("reason", ["null", "None"])
async def test_a_finish_reason_that_says_null_in_words_is_none(reason: str) -> None:
    events = [chunk({"content": "Ra"}, reason), chunk({"content": "in."}, reason), chunk({}, "stop")]
    async with served([events_turn(*events)]) as (_, gateway):
        answer = await ask(gateway)
    assert (answer.text, answer.result.finish_reason) == ("Rain.", "stop")


async def test_usage_may_come_a_while_after_the_finish_reason() -> None:
    turn = Turn(text=["Rain."], usage=USAGE, pause=0.3)
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway)).result.usage.total_tokens == 15


async def test_a_server_that_says_nothing_more_after_the_finish_reason_delays_nobody_for_long() -> None:
    turn = Turn(raw=[sse(chunk({"content": "Rain."})), sse(chunk({}, "stop"))], end="hang")
    async with served([turn]) as (_, gateway):
        async with asyncio.timeout(5):
            assert (await ask(gateway)).text == "Rain."


@pytest.mark.parametrize("more", [{"content": "Ra"}, {"tool_calls": [{"id": "a", "function": {"name": "weather"}}]}])
async def test_a_finish_reason_that_comes_with_more_than_itself_may_not_be_the_last(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_stream, "_AFTER_FINISH", 0.0)
    turn = Turn(raw=[sse(chunk(more, "stop")), sse(chunk({"content": "in."}, "stop")), b"data: [DONE]\n\n"], pause=0.1)
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway, tools=(WEATHER,))).text.endswith("in.")


async def test_a_connection_cut_after_the_finish_reason_is_no_failure() -> None:
    turn = Turn(raw=[sse(chunk({"content": "Rain."}, "stop"))], end="cut")
    async with served([turn]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_a_server_that_keeps_the_connection_open_after_done_delays_nobody() -> None:
    async with served(
        [Turn(raw=[sse(chunk({"content": "Rain."})), b"data: [DONE]\n\n"], end="hang"), text_turn("x")]
    ) as (_, gateway):
        async with asyncio.timeout(3):
            assert (await ask(gateway)).text == "Rain."
            assert (await ask(gateway)).text == "x"


async def test_a_compressed_answer_is_read() -> None:
    import gzip

    whole = gzip.compress(sse(chunk({"content": "Rain."}, "stop")))
    async with served([Turn(raw=[whole], headers={"content-encoding": "gzip"})]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."


async def test_one_connection_serves_many_calls() -> None:
    async with served([text_turn("x")], repeat_last=True) as (server, gateway):
        for _ in range(5):
            await ask(gateway)
    assert server.connections == 1


async def test_calls_at_the_same_time_do_not_mix() -> None:
    def echo(request: dict[str, Any]) -> Turn:
        word = request["messages"][0]["content"]
        return text_turn(*[f"{word} "] * 5, pause=0.01)

    async with served([echo], repeat_last=True) as (_, gateway):
        answers = await asyncio.gather(*(ask(gateway, str(number)) for number in range(20)))
    assert [answer.text for answer in answers] == [f"{number} " * 5 for number in range(20)]


async def test_closing_the_stream_ends_the_request_at_the_provider() -> None:
    async with served([Turn(raw=[sse(chunk({"content": "Rain"}))], end="hang")]) as (server, gateway):
        stream = gateway.stream(ModelRequest(messages=(UserMessage(content="?"),)))
        await anext(stream)
        await stream.aclose()
        await server.until(lambda: server.dropped == 1)


@pytest.mark.parametrize("turn", [Turn(raw=[sse(chunk({"content": "Rain"}))], end="hang"), Turn(text=["x"], delay=30)])
async def test_cancelling_the_reader_ends_the_request_at_the_provider(turn: Turn) -> None:
    async with served([turn]) as (server, gateway):
        task = asyncio.create_task(ask(gateway))
        await server.until(lambda: len(server.requests) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until(lambda: server.dropped == 1)


async def test_a_model_set_up_without_tools_is_not_given_any() -> None:
    async with served([text_turn("x")], settings={"tools": False}) as (server, gateway):
        with pytest.raises(ModelFailedError, match=r"takes no tools .*chain-of-thought"):
            await ask(gateway, tools=(WEATHER,))
        assert (await ask(gateway)).text == "x"
    assert len(server.requests) == 1


async def test_ids_that_repeat_from_round_to_round_stay_in_their_round() -> None:
    turns = [
        calls_turn(Call("weather", {"city": "Oban"}, "weather:0")),
        calls_turn(Call("weather", {"city": "Tiree"}, "weather:0")),
        text_turn("Both done."),
    ]
    async with served(turns, rules=[calls_are_answered]) as (server, gateway):
        first = await ask(gateway, tools=(WEATHER,))
        second = await ask(gateway, "?", *answered(first, "rain"), tools=(WEATHER,))
        third = await ask(gateway, "?", *answered(first, "rain"), *answered(second, "sun"), tools=(WEATHER,))
    assert third.text == "Both done."
    assert [message["role"] for message in server.bodies[2]["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]


async def test_a_call_in_pieces_is_shown_in_pieces() -> None:
    events = [
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "weather", "arguments": ""}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"Oban"}'}}]}, "tool_calls"),
    ]
    async with served([events_turn(*events, pause=0.02)]) as (_, gateway):
        answer = await ask(gateway, tools=(WEATHER,))
    deltas = [delta for each in answer.chunks for delta in each.tool_calls]
    assert "".join(delta.arguments for delta in deltas) == '{"city": "Oban"}'
    assert answer.calls == [("a", "weather", {"city": "Oban"})]
    assert isinstance(answer.result, ModelResult)

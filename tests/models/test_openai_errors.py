"""Everything that can go wrong at a provider: fc-17 and its kin. Each ends in its own clear error."""

import socket
from typing import Any

import pytest

from enfilade.models.gateway import ModelGateway
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import ModelChunk, ModelRequest, UserMessage
from tests.support.model_calls import WEATHER, ask, served
from tests.support.model_turns import Turn, chunk, error_turn, events_turn, sse, text_turn

HALF = [chunk({"content": "The yard has "})]
HALF_CALL = [chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "weather", "arguments": '{"ci'}}]})]
PAGE = (
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>p {color: red}</style></head>"
    "<body><script>alert(1)</script><h1>Bad&nbsp;Gateway</h1><p>nginx</p></body></html>"
)


async def failure_of(
    *turns: Turn, settings: dict[str, Any] | None = None, asked: int = 1, **request: Any
) -> ModelFailedError:
    """The error of one call, with what holds for every one of them checked."""
    async with served(turns, settings=settings) as (server, gateway):
        with pytest.raises(ModelFailedError) as caught:
            await ask(gateway, **request)
        assert len(server.requests) == asked
        error = caught.value
        assert error.message.startswith(f"model 'm' at {server.base_url}: ")
        assert error.details["endpoint"] == server.base_url
    assert (error.details["model"], error.details["provider"]) == ("m", "openai")
    assert error.__cause__ is None
    assert len(error.message) < 900
    return error


@pytest.mark.parametrize(
    ("status", "body", "words", "retryable"),
    [
        (401, {"error": {"message": "Incorrect API key"}}, "HTTP 401 (check the API key): Incorrect API key", False),
        (403, {"error": {"message": "no"}}, "HTTP 403 (the API key may not use this model): no", False),
        (404, {"detail": "Not Found"}, "HTTP 404 (check the base URL and the model's name): Not Found", False),
        (400, {"error": "bad thing"}, "HTTP 400: bad thing", False),
        (400, {"message": "bad thing"}, "HTTP 400: bad thing", False),
        (400, [{"error": {"message": "bad thing"}}], "HTTP 400: bad thing", False),
        (
            422,
            {"detail": [{"msg": "field required"}, {"msg": "too long"}]},
            "HTTP 422: field required; too long",
            False,
        ),
        (429, {"error": {"message": "slow down"}}, "rate limit or quota is used up): slow down", True),
        (500, {"error": {"message": "oops"}}, "HTTP 500: oops", True),
        (503, "", "HTTP 503, without a reason", True),
        (500, "plain\n  words", "HTTP 500: plain words", True),
        (502, PAGE, "HTTP 502: 502 Bad Gateway Bad Gateway nginx", True),
        (500, b"\xff\xfe bytes", "HTTP 500: \ufffd\ufffd bytes", True),
        (500, "x" * 100_000, "x" * 490 + "xxxxxxx...", True),
    ],
)
async def test_an_http_error_has_status_and_reason(status: int, body: Any, words: str, retryable: bool) -> None:
    error = await failure_of(error_turn(status, body))
    assert words in error.message
    assert error.details["status"] == status
    assert error.details["type"] == "status"
    assert error.retryable == retryable


async def test_an_error_body_without_end_is_read_only_in_part() -> None:
    turn = Turn(status=500, raw=[b"x" * 70_000], end="hang", body=None, headers={"content-type": "text/plain"})
    assert "HTTP 500: xxx" in (await failure_of(turn)).message


async def test_the_client_tries_again_when_that_makes_sense_and_obeys_retry_after() -> None:
    busy = error_turn(429, {"error": {"message": "slow down"}}, headers={"retry-after-ms": "1"})
    async with served([busy, busy, text_turn("Rain.")], settings={"max_retries": 2}) as (server, gateway):
        assert (await ask(gateway)).text == "Rain."
        assert len(server.requests) == 3


async def test_the_client_gives_up_after_its_retries() -> None:
    busy = error_turn(503, {"error": {"message": "busy"}}, headers={"retry-after-ms": "1"})
    error = await failure_of(busy, busy, settings={"max_retries": 1}, asked=2)
    assert "HTTP 503: busy" in error.message


async def test_nothing_is_tried_again_once_a_piece_has_come() -> None:
    error = await failure_of(events_turn(*HALF, done=False, end="cut"), text_turn("x"), settings={"max_retries": 2})
    assert error.retryable


async def test_an_endpoint_that_is_down_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    gateway = ModelGateway({"m": ModelSettings(base_url=url, max_retries=0)}, "m")
    with pytest.raises(ModelFailedError, match=r"there is no connection \(.*\): is the endpoint up") as caught:
        await ask(gateway)
    await gateway.aclose()
    assert caught.value.message.startswith(f"model 'm' at {url}: ")
    assert (caught.value.details["type"], caught.value.retryable) == ("connection", True)


async def test_a_server_that_does_not_answer_in_time_is_a_timeout() -> None:
    error = await failure_of(Turn(text=["x"], delay=30), settings={"timeout": 0.2})
    assert "no answer within 0.2 seconds" in error.message
    assert (error.details["type"], error.retryable) == ("timeout", True)


async def test_a_read_that_stalls_is_a_timeout() -> None:
    error = await failure_of(Turn(events=HALF, done=False, end="hang"), settings={"timeout": 0.2})
    assert "nothing more came for 0.2 seconds, in the middle of the answer" in error.message
    assert error.details["type"] == "timeout"


@pytest.mark.parametrize(
    ("event", "words", "status", "retryable"),
    [
        ({"error": {"message": "upstream overloaded", "type": "server_error", "code": 529}},
         "upstream overloaded (type server_error, code 529)", 529, True),
        ({"error": "upstream overloaded"}, "upstream overloaded", None, True),
        ({"error": {"code": "429", "message": "slow down"}}, "slow down (code 429)", 429, True),
        ({"error": {"message": "bad request", "code": 400}}, "bad request (code 400)", 400, False),
        ({"object": "error", "message": "out of memory", "code": 500}, "out of memory (code 500)", 500, True),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
         "Overloaded (type overloaded_error)", None, True),
        ({"detail": "worker died"}, "worker died", None, False),
        ({"choices": [{"delta": {}, "error": {"message": "node lost", "code": 502}, "finish_reason": "error"}]},
         "node lost (code 502)", 502, True),
        ({"choices": [{"delta": {}, "error": None, "finish_reason": "error"}]}, "finish reason `error`", None, False),
        ({"choices": [{"delta": {}, "finish_reason": "network_error"}]}, "finish reason `network_error`", None, True),
        ({"choices": [{"delta": {}, "finish_reason": "insufficient_system_resource"}]},
         "finish reason `insufficient_system_resource`", None, True),
        ({"choices": [{"delta": {"content": "x"}, "finish_reason": "abort"}]}, "finish reason `abort`", None, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", [[], HALF])
async def test_an_error_object_in_the_stream_is_the_error(
    event: dict[str, Any], words: str, status: int | None, retryable: bool, before: list[Any]
) -> None:
    error = await failure_of(events_turn(*before, event))
    assert "the provider broke the answer off with an error: " in error.message
    assert words in error.message
    assert (error.details["type"], error.details["status"], error.retryable) == ("stream_error", status, retryable)


@pytest.mark.parametrize(
    "data", [b'{"message": "upstream overloaded"}', b"upstream overloaded", b'"upstream overloaded"']
)
async def test_an_event_named_error_is_the_error(data: bytes) -> None:
    error = await failure_of(Turn(raw=[sse(HALF[0]), b"event: error\ndata: " + data + b"\n\n"]))
    assert "upstream overloaded" in error.message


async def test_an_error_in_a_whole_json_answer_is_the_error() -> None:
    error = await failure_of(Turn(body={"error": {"message": "no such model"}}))
    assert "no such model" in error.message


async def test_a_chunk_whose_error_is_null_is_no_error() -> None:
    async with served([events_turn({**HALF[0], "error": None}, chunk({}, "stop", error=None))]) as (_, gateway):
        assert (await ask(gateway)).text == "The yard has "


@pytest.mark.parametrize("empty", [{}, {"code": 0, "message": ""}, {"message": None}])
async def test_a_chunk_whose_error_says_nothing_is_no_error(empty: dict[str, Any]) -> None:
    async with served([events_turn({**HALF[0], "error": empty}, chunk({}, "stop"))]) as (_, gateway):
        assert (await ask(gateway)).text == "The yard has "


@pytest.mark.parametrize("finish", ["stop", "length"])
async def test_a_whole_reply_of_a_connection_that_promised_more_is_whole(finish: str) -> None:
    reply = {"choices": [{"index": 0, "message": {"content": "Rain."}, "finish_reason": finish}]}
    turn = Turn(body=reply, headers={"content-length": "5000"}, end="cut")
    async with served([turn]) as (_, gateway):
        answer = await ask(gateway)
    assert (answer.text, answer.result.finish_reason) == ("Rain.", finish)


@pytest.mark.parametrize("left", ["", '"}}]}'])
async def test_a_reply_that_is_not_whole_is_none_when_the_connection_breaks(left: str) -> None:
    body = '{"choices": [{"message": {"content": "Ra' + left
    error = await failure_of(Turn(body=body, headers={"content-length": "5000"}, end="cut"))
    assert (error.details["type"], error.retryable) == ("cut", True)


@pytest.mark.parametrize("end", ["cut", "whole"])
@pytest.mark.parametrize("events", [HALF, HALF_CALL])
async def test_a_stream_that_stops_in_the_middle_is_not_an_answer(events: list[Any], end: Any) -> None:
    error = await failure_of(events_turn(*events, done=False, end=end), tools=(WEATHER,))
    assert "in the middle of the answer" in error.message
    assert (error.details["type"], error.retryable) == ("cut", True)


async def test_what_came_before_the_failure_was_shown() -> None:
    async with served([events_turn(*HALF, done=False)]) as (_, gateway):
        stream = gateway.stream(ModelRequest(messages=(UserMessage(content="?"),)))
        assert await anext(stream) == ModelChunk("The yard has ")
        with pytest.raises(ModelFailedError):
            await anext(stream)


@pytest.mark.parametrize("bad", [{"error": "upstream overloaded"}, "{broken"])
async def test_what_came_in_the_same_part_before_the_failure_was_shown(bad: Any) -> None:
    texts = [sse(chunk({"content": text})) for text in ("The ", "yard ", "has ")]
    async with served([Turn(raw=[b"".join(texts) + sse(bad)])]) as (_, gateway):
        stream = gateway.stream(ModelRequest(messages=(UserMessage(content="?"),)))
        assert await anext(stream) == ModelChunk("The yard has ")
        with pytest.raises(ModelFailedError):
            await anext(stream)


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (Turn(raw=[]), "the answer was empty"),
        (Turn(raw=[b": ping\n\n"]), "the answer was empty; all that came was: : ping"),
        (Turn(raw=[b"data: [DONE]\n\n"]), "the answer was empty; all that came was: data: [DONE]"),
        (Turn(raw=[b"Internal error"]), "the answer was empty; all that came was: Internal error"),
        (Turn(body={}), "the answer was empty; all that came was: {}"),
        (events_turn(), "the answer was empty"),
    ],
)
async def test_an_empty_answer_is_an_error_that_shows_what_came(turn: Turn, words: str) -> None:
    error = await failure_of(turn)
    assert words in error.message
    assert (error.details["type"], error.retryable) == ("empty", True)


async def test_an_empty_reply_that_was_finished_is_a_reply() -> None:
    async with served([events_turn(chunk({"content": None}), chunk({}, "stop"))]) as (_, gateway):
        answer = await ask(gateway)
    assert (answer.message.content, answer.result.finish_reason) == (None, "stop")


async def test_a_web_page_instead_of_a_stream_is_told_in_its_words() -> None:
    error = await failure_of(Turn(body=PAGE))
    assert "it answered with a web page instead of a reply: 502 Bad Gateway Bad Gateway nginx" in error.message
    assert error.details["type"] == "garbage"


@pytest.mark.parametrize("data", ["<html>502</html>", "{broken", "5", "[1]", "nonsense"])
async def test_a_chunk_that_is_no_object_is_an_error(data: str) -> None:
    error = await failure_of(events_turn(*HALF, data))
    assert "a piece of the answer is not JSON: " in error.message
    assert "<" not in error.message
    assert (error.details["type"], error.retryable) == ("garbage", True)


async def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    event = sse(chunk({"content": "caf@"}, "stop")).replace(b"@", b"\xe9")
    async with served([Turn(raw=[event])]) as (_, gateway):
        assert (await ask(gateway)).text == "caf\ufffd"


async def test_a_line_without_end_is_refused() -> None:
    error = await failure_of(Turn(raw=[b"data: " + b"x" * 2**20] + [b"x" * 2**20] * 9))
    assert "a line of the event stream is longer than" in error.message
    assert error.details["type"] == "overflow"


async def test_an_answer_that_was_compressed_wrongly_is_an_error() -> None:
    error = await failure_of(Turn(raw=[b"data: x\n\n"], headers={"content-encoding": "gzip"}))
    assert "the connection broke in the middle of the answer" in error.message


async def test_no_secret_ever_stands_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    monkeypatch.setenv("MY_TEAM", "team-secret")
    settings = {"api_key_env": "MY_KEY", "headers_env": {"X-Team": "MY_TEAM"}}
    error = await failure_of(error_turn(401, {"error": "wrong key sk-very-secret of team-secret"}), settings=settings)
    assert "secret" not in f"{error.message} {error.details} {error!r}"
    assert "wrong key *** of ***" in error.message


async def test_user_and_password_of_the_endpoint_stand_in_no_error() -> None:
    model = ModelSettings(base_url="http://ada:pa55@127.0.0.1:1/v1?token=t0ken", max_retries=0)
    gateway = ModelGateway({"m": model}, "m")
    with pytest.raises(ModelFailedError, match=r"model 'm' at http://127.0.0.1:1/v1: ") as caught:
        await ask(gateway)
    await gateway.aclose()
    assert not any(secret in f"{caught.value.message} {caught.value.details}" for secret in ("pa55", "t0ken"))


async def test_what_the_address_keeps_secret_is_masked_where_the_endpoint_sends_it_back() -> None:
    echo = error_turn(500, {"error": "Basic YWRhOnBhNTVwYTU1 and pa55pa55 at /v1?api-key=t0ken1"})
    async with served([echo]) as (server, _):
        there = server.base_url.replace("://", "://ada:pa55pa55@") + "?api-key=t0ken1"
        gateway = ModelGateway({"m": ModelSettings(base_url=there, max_retries=0)}, "m")
        with pytest.raises(ModelFailedError) as caught:
            await ask(gateway)
        await gateway.aclose()
    assert "Basic *** and *** at /v1?api-key=***" in caught.value.message


async def test_a_call_after_a_failure_goes_well() -> None:
    turns = [events_turn(*HALF, done=False, end="cut"), error_turn(500, "x"), text_turn("Rain.")]
    async with served(turns) as (_, gateway):
        for _ in range(2):
            with pytest.raises(ModelFailedError):
                await ask(gateway)
        assert (await ask(gateway)).text == "Rain."

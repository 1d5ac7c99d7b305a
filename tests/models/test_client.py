"""Requests that are sent past the openai client, and what it makes of what comes of them."""

import gzip
from collections.abc import Sequence

import pytest

from enfilade_sdk.errors import ModelFailedError
from tests.support.model_calls import ask, served
from tests.support.model_server import Seen
from tests.support.model_turns import Turn, chunk, error_turn, sse, text_turn

FAST = {"retry-after-ms": "1"}
BUSY = error_turn(429, {"error": {"message": "slow down"}}, headers=FAST)


def heads(requests: Sequence[Seen]) -> list[tuple[str, dict[str, str]]]:
    """Paths and headers, without what the body's length makes of them."""
    return [(seen.path, {k: v for k, v in seen.headers.items() if k != "content-length"}) for seen in requests]


async def test_all_requests_look_like_the_one_that_the_client_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-mine")
    monkeypatch.setenv("MY_TEAM", "blue")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-7")
    settings = {"api_key_env": "MY_KEY", "headers_env": {"X-Team": "MY_TEAM"}}
    async with served([text_turn("x")], repeat_last=True, settings=settings) as (server, gateway):
        for question in ("one", "two and more", "three"):
            await ask(gateway, question)
    first, *later = heads(server.requests)
    assert later == [first] * 2
    assert [body["messages"][0]["content"] for body in server.bodies] == ["one", "two and more", "three"]
    assert first[1]["openai-organization"] == "org-7"
    assert (first[1]["authorization"], first[1]["x-team"]) == ("Bearer sk-mine", "blue")


async def test_chat_and_completions_each_have_their_own() -> None:
    async with served([text_turn("x")], repeat_last=True) as (server, gateway):
        for completion in (False, True, False, True):
            await ask(gateway, completion=completion)
    assert [seen.path for seen in server.requests] == ["/v1/chat/completions", "/v1/completions"] * 2


async def test_a_refusal_of_a_later_request_is_told_with_its_reason() -> None:
    turns = [text_turn("x"), error_turn(400, {"error": {"message": "too long"}}), text_turn("y")]
    async with served(turns) as (server, gateway):
        await ask(gateway)
        with pytest.raises(ModelFailedError, match="HTTP 400: too long"):
            await ask(gateway)
        assert (await ask(gateway)).text == "y"
        assert len(server.requests) == 3


@pytest.mark.parametrize("failing", [BUSY, error_turn(503, "busy", headers=FAST)])
async def test_a_later_request_is_tried_again_as_often_as_the_first(failing: Turn) -> None:
    async with served([text_turn("x"), failing, failing, text_turn("y")], settings={"max_retries": 2}) as (
        server,
        gateway,
    ):
        await ask(gateway)
        assert (await ask(gateway)).text == "y"
        assert len(server.requests) == 4


async def test_a_later_request_is_not_tried_more_often_than_the_first() -> None:
    async with served([text_turn("x"), BUSY, BUSY, text_turn("y")], settings={"max_retries": 1}) as (server, gateway):
        await ask(gateway)
        with pytest.raises(ModelFailedError, match="HTTP 429"):
            await ask(gateway)
        assert len(server.requests) == 3


async def test_the_wait_that_an_endpoint_asks_for_is_kept_by_later_requests(caplog: pytest.LogCaptureFixture) -> None:
    slow = error_turn(429, "slow down", headers={"retry-after-ms": "40"})
    async with served([text_turn("x"), slow, text_turn("y")], settings={"max_retries": 1}) as (_, gateway):
        await ask(gateway)
        with caplog.at_level("INFO", "openai"):
            await ask(gateway)
    assert "Retrying request in 0.040000 seconds" in caplog.text


async def test_a_later_request_that_no_answer_comes_to_is_a_timeout() -> None:
    async with served([text_turn("x"), Turn(text=["y"], delay=30)], settings={"timeout": 0.2}) as (server, gateway):
        await ask(gateway)
        with pytest.raises(ModelFailedError, match=r"no answer within 0\.2 seconds"):
            await ask(gateway)
        assert len(server.requests) == 2


async def test_a_later_answer_that_is_compressed_is_read() -> None:
    packed = Turn(raw=[gzip.compress(sse(chunk({"content": "Rain."}, "stop")))], headers={"content-encoding": "gzip"})
    async with served([text_turn("x"), packed, packed, text_turn("y")]) as (server, gateway):
        assert [(await ask(gateway)).text for _ in range(4)] == ["x", "Rain.", "Rain.", "y"]
        assert len(server.requests) == 4


async def test_cookies_go_back_from_the_answer_on_that_sets_them() -> None:
    turns = [text_turn("x"), text_turn("x", headers={"set-cookie": "lane=7; Path=/"}), text_turn("x"), text_turn("x")]
    async with served(turns) as (server, gateway):
        for _ in range(4):
            await ask(gateway)
    assert [seen.headers.get("cookie") for seen in server.requests] == [None, None, "lane=7", "lane=7"]


async def test_a_later_redirect_is_followed_and_not_taken_for_the_rule() -> None:
    async with served([text_turn("there")]) as (elsewhere, _):
        turn = error_turn(307, "", headers={"location": f"{elsewhere.base_url}/chat/completions"})
        async with served([text_turn("here"), turn, text_turn("here again")]) as (_, gateway):
            assert [(await ask(gateway)).text for _ in range(3)] == ["here", "there", "here again"]
    assert len(elsewhere.requests) == 1


async def test_requests_after_a_redirect_begin_where_the_first_one_began() -> None:
    async with served([text_turn("there")], repeat_last=True) as (elsewhere, _):
        turn = error_turn(307, "", headers={"location": f"{elsewhere.base_url}/chat/completions"})
        async with served([turn], repeat_last=True) as (server, gateway):
            assert [(await ask(gateway)).text for _ in range(3)] == ["there"] * 3
    assert len(server.requests) == len(elsewhere.requests) == 3


async def test_an_optional_thing_that_a_later_request_is_refused_for_is_left_out() -> None:
    refusal = error_turn(400, {"error": {"message": "unknown field stream_options"}})
    async with served([text_turn("x"), refusal, text_turn("y")]) as (server, gateway):
        await ask(gateway)
        assert (await ask(gateway)).text == "y"
    assert ["stream_options" in body for body in server.bodies] == [True, True, False]

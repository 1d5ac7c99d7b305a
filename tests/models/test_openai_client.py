"""Keys, headers, proxies, clients."""

import asyncio
import json
import sys
import threading
from typing import Any

import pytest

from enfilade.models.client import EndpointClient
from enfilade.models.gateway import ModelGateway
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import ModelFailedError
from tests.support.model_calls import ask, served
from tests.support.model_turns import error_turn, text_turn


async def test_without_a_key_a_placeholder_is_sent_and_never_the_key_of_someone_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    async with served([text_turn("x")]) as (server, gateway):
        await ask(gateway)
    assert server.requests[0].headers["authorization"] == "Bearer no-key"
    assert "sk-" not in json.dumps(dict(server.requests[0].headers))


async def test_the_key_and_headers_come_from_the_variables_that_were_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-mine\n")
    monkeypatch.setenv("MY_TEAM", "blue")
    async with served([text_turn("x")], settings={"api_key_env": "MY_KEY", "headers_env": {"X-Team": "MY_TEAM"}}) as (
        server,
        gateway,
    ):
        await ask(gateway)
    assert server.requests[0].headers["authorization"] == "Bearer sk-mine"
    assert server.requests[0].headers["x-team"] == "blue"


@pytest.mark.parametrize("settings", [{"api_key_env": "NOT_SET_KEY"}, {"headers_env": {"X-Team": "NOT_SET_KEY"}}])
@pytest.mark.parametrize("value", [None, ""])
async def test_a_variable_that_is_not_set_is_named(
    settings: dict[str, Any], value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_SET_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("NOT_SET_KEY", value)
    async with served([text_turn("x")], settings=settings) as (server, gateway):
        with pytest.raises(ModelFailedError, match=r"environment variable NOT_SET_KEY, .* is not set") as caught:
            await ask(gateway)
    assert caught.value.details["type"] == "configuration"
    assert server.requests == []


async def test_openai_itself_needs_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    gateway = ModelGateway({"m": ModelSettings()}, "m")
    with pytest.raises(ModelFailedError, match=r"model 'm' at https://api.openai.com/v1: .* OPENAI_API_KEY"):
        await ask(gateway)


async def test_loopback_never_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with served([text_turn("x")]) as (_, gateway):
        assert (await ask(gateway)).text == "x"


async def test_a_query_of_the_base_url_goes_with_every_request() -> None:
    async with served([text_turn("x")]) as (server, _):
        model = ModelSettings(base_url=f"{server.base_url}?api-version=2", max_retries=0)
        gateway = ModelGateway({"m": model}, "m")
        assert (await ask(gateway)).text == "x"
        await gateway.aclose()
    assert server.requests[0].path == "/v1/chat/completions?api-version=2"


async def test_endpoints_are_told_nothing_of_this_machine() -> None:
    async with served([text_turn("x")]) as (server, gateway):
        await ask(gateway)
    expected = {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"}
    assert server.requests[0].headers.keys() == expected | {"user-agent"}


async def test_a_redirect_is_followed_with_the_same_question() -> None:
    async with served([text_turn("x")]) as (server, _):
        turn = error_turn(307, "", headers={"location": f"{server.base_url}/chat/completions"})
        async with served([turn]) as (_, gateway):
            assert (await ask(gateway, "Where to?")).text == "x"
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "Where to?"}]


async def test_a_redirect_to_another_host_does_not_take_the_key_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-mine")
    async with served([text_turn("x")]) as (server, _):
        url = server.base_url.replace("127.0.0.1", "localhost")
        turn = error_turn(308, "", headers={"location": f"{url}/chat/completions"})
        async with served([turn], settings={"api_key_env": "MY_KEY"}) as (first, gateway):
            assert (await ask(gateway)).text == "x"
    assert first.requests[0].headers["authorization"] == "Bearer sk-mine"
    assert "authorization" not in server.requests[0].headers


async def test_user_and_password_of_the_base_url_are_sent_as_such() -> None:
    async with served([text_turn("x")]) as (server, _):
        model = ModelSettings(base_url=server.base_url.replace("127.", "ada:pa55@127."), max_retries=0)
        gateway = ModelGateway({"m": model}, "m")
        assert (await ask(gateway)).text == "x"
        await gateway.aclose()
    assert server.requests[0].headers["authorization"] == "Basic YWRhOnBhNTU="


async def test_models_of_one_endpoint_share_its_connections() -> None:
    async with served([text_turn("x")], repeat_last=True) as (server, gateway):
        model = gateway.resolve("m")
        both = ModelGateway({"a": model, "b": model.model_copy(update={"name": "other"})})
        for name in ("a", "b"):
            await ask(both, model=name)
        await both.aclose()
    assert server.connections == 1
    assert [body["model"] for body in server.bodies] == ["m", "other"]


async def test_warming_up_makes_the_client_beforehand_and_not_on_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    build = EndpointClient

    def building(address: Any) -> Any:
        made.append(threading.current_thread().name)
        return build(address)

    monkeypatch.setattr("enfilade.models.openai.EndpointClient", building)
    async with served([text_turn("x")]) as (_, gateway):
        gateway.warm("m")
        assert (await ask(gateway)).text == "x"
    assert made == ["openai-client"]


async def test_one_who_gives_up_while_the_client_is_made_does_not_spoil_it_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go, build = threading.Event(), EndpointClient

    def building(address: Any) -> Any:
        go.wait(10)
        return build(address)

    monkeypatch.setattr("enfilade.models.openai.EndpointClient", building)
    async with served([text_turn("x")]) as (_, gateway):
        first, second = asyncio.create_task(ask(gateway)), asyncio.create_task(ask(gateway))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        go.set()
        assert (await second).text == "x"


async def test_a_client_that_cannot_be_made_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    build, tries = EndpointClient, iter([True, False])

    def building(address: Any) -> Any:
        if next(tries):
            raise OSError("no certificates")
        return build(address)

    monkeypatch.setattr("enfilade.models.openai.EndpointClient", building)
    async with served([text_turn("x")]) as (_, gateway):
        with pytest.raises(ModelFailedError, match="the client could not be set up: no certificates"):
            await ask(gateway)
        assert (await ask(gateway)).text == "x"


async def test_a_program_that_ends_while_the_client_is_made_ends_quietly() -> None:
    script = (
        "from enfilade.models.gateway import ModelGateway; from enfilade.models.settings import ModelSettings; "
        "ModelGateway({'m': ModelSettings(base_url='https://127.0.0.1:1')}).warm('m')"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stderr=asyncio.subprocess.PIPE)
    _, said = await process.communicate()
    assert (process.returncode, said) == (0, b"")


async def test_warming_up_a_model_whose_key_is_missing_says_nothing_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET_KEY", raising=False)
    async with served([], settings={"api_key_env": "NOT_SET_KEY"}) as (_, gateway):
        gateway.warm("m")


async def test_importing_the_room_does_not_import_the_client() -> None:
    heavy = {"openai", "httpx2", "aiohttp", "json_repair"}
    script = f"import sys, enfilade.models.gateway; assert not {heavy} & set(sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    assert await process.wait() == 0

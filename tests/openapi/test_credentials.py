"""Keys: where they come from, where they go, and where they must not go."""

import logging
from pathlib import Path
from typing import Any

import pytest

from enfilade.config import load_config
from enfilade.errors import ConfigError
from enfilade.tools.openapi.failure import DocumentError
from enfilade.tools.openapi.settings import OpenApiSettings
from tests.openapi.conftest import Opened, operation, parameter
from tests.openapi.interface_server import Answer, InterfaceServer
from tests.support.tool_calls import call

PATHS = {"/x": {"get": operation()}}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAL", "opensesame/1")
    monkeypatch.setenv("PAIR", "anna:hunter22")


@pytest.mark.parametrize(
    ("settings", "headers", "query"),
    [
        ({"bearer_env": "SEAL"}, {"authorization": "Bearer opensesame/1"}, []),
        ({"basic_env": "PAIR"}, {"authorization": "Basic YW5uYTpodW50ZXIyMg=="}, []),
        ({"headers_env": {"X-API-Key": "SEAL"}}, {"x-api-key": "opensesame/1"}, []),
        ({"query_env": {"api_key": "SEAL"}}, {}, [("api_key", "opensesame/1")]),
        (
            {"bearer_env": "SEAL", "headers_env": {"X-Tenant": "PAIR"}},
            {"authorization": "Bearer opensesame/1", "x-tenant": "anna:hunter22"},
            [],
        ),
    ],
)
async def test_credentials_go_with_every_request(
    settings: dict[str, Any],
    headers: dict[str, str],
    query: list[tuple[str, str]],
    opened: Opened,
    server: InterfaceServer,
) -> None:
    async with opened(PATHS, **settings) as engine:
        await call(engine, "op")
    [asked] = server.asked
    assert {name: asked.headers.get(name) for name in headers} == headers
    assert asked.query == query


@pytest.mark.parametrize(
    "settings",
    [
        {"bearer_env": "SEAL"},
        {"basic_env": "PAIR"},
        {"headers_env": {"X-API-Key": "SEAL"}},
        {"query_env": {"api_key": "SEAL"}},
    ],
)
async def test_credentials_are_shown_nowhere(
    settings: dict[str, Any], opened: Opened, server: InterfaceServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers["GET /x"] = lambda asked: Answer(f"{asked.target} {dict(asked.headers)}".encode(), 401, "text/plain")
    async with opened(PATHS, **settings) as engine:
        done = await call(engine, "op")
    shown = done.text + caplog.text + repr(done)
    for secret in ("opensesame", "hunter22", "YW5uYTpodW50ZXIyMg=="):
        assert secret not in shown
    assert "***" in done.text
    assert "HTTP Request: GET" in caplog.text  # what the client logs is there, without the key


async def test_a_parameter_that_a_key_fills_in_is_not_offered_to_the_model(opened: Opened) -> None:
    parameters = [parameter("x-api-key", "header", required=True), parameter("key", required=True), parameter("q")]
    settings = {"headers_env": {"X-API-Key": "SEAL"}, "query_env": {"key": "SEAL"}}
    async with opened({"/x": {"get": operation(parameters=parameters)}}, **settings) as engine:
        assert list(engine.menu()[0].parameters["properties"]) == ["q"]


async def test_a_variable_that_is_not_set_is_named(opened: Opened) -> None:
    with pytest.raises(DocumentError, match="the environment variable NOT_SET_ANYWHERE, which should hold credentials"):
        async with opened(PATHS, bearer_env="NOT_SET_ANYWHERE"):
            pass


async def test_a_variable_that_holds_a_line_end_is_refused(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAL", "a\r\nX-Evil: 1")
    with pytest.raises(DocumentError, match="SEAL holds characters that no credentials have"):
        async with opened(PATHS, bearer_env="SEAL"):
            pass


async def test_a_fetched_document_cannot_send_keys_elsewhere(opened: Opened, server: InterfaceServer) -> None:
    document = b'{"openapi": "3.0.0", "servers": [{"url": "http://127.0.0.1:9/v1"}], "paths": {"/x": {"get": {}}}}'
    server.answers["GET /openapi.json"] = Answer(document)
    url = f"{server.url}/openapi.json"
    with pytest.raises(
        DocumentError, match=r"the interface is at http://127\.0\.0\.1:9/v1: set base_url to that, if the"
    ):
        async with opened(PATHS, document=url, bearer_env="SEAL"):
            pass
    async with opened(PATHS, document=url, bearer_env="SEAL", base_url=server.url) as engine:
        await call(engine, engine.names[0])
    async with opened(PATHS, document=url):  # without keys it may be anywhere
        pass
    assert [asked.headers.get("authorization") for asked in server.asked] == [
        None,
        None,
        "Bearer opensesame/1",
        None,
    ]


async def test_a_document_that_wants_credentials_and_is_given_none_is_warned_of(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    schemes = {
        "token": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "login": {"type": "oauth2"},
    }
    more = {"components": {"securitySchemes": schemes}, "security": [{"token": []}, {"key": []}, {"login": []}]}
    async with opened(PATHS, more=more):
        pass
    assert (
        "openapi:api wants credentials (a key in the header 'X-Key', bearer, oauth2) and is given none" in caplog.text
    )
    caplog.clear()
    async with opened({"/x": {"get": operation(security=[{}])}}, more=more):
        pass
    assert "wants credentials" not in caplog.text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it has to be set"),
        ('document = ""', "String should have at least 1 character"),
        ('document = "x"\nbearer_env = "A"\nbasic_env = "B"', "give bearer_env or basic_env, not both"),
        ('document = "x"\nbase_url = "h/x"', "base_url must start with http:// or https:// and name a host, got 'h/x'"),
        ('document = "x"\nurl = "http://h"', "openapi.api.url: there is no such setting; there are: base_url, "),
    ],
)
def test_a_section_that_makes_no_sense_is_refused_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "enfilade.toml"
    path.write_text(f"[openapi.api]\n{text}\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path, {})
    assert fault in caught.value.message
    assert "openapi.api" in caught.value.message


def test_credentials_are_not_printed() -> None:
    settings = OpenApiSettings(document="x", bearer_env="SEAL")
    credentials = settings.credentials({"SEAL": "opensesame"})
    assert "opensesame" not in repr(credentials) + repr(settings) + str(vars(settings))

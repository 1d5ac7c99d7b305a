"""Servers behind HTTP."""

import asyncio
from collections.abc import Callable

import pytest

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.mcp.failure import McpError
from enfilade.tools.mcp.settings import McpSettings
from tests.support.mcp_http import McpHttp, Reply, Seen, event, json_reply, result, text_result
from tests.support.mcp_setup import mcp_engine, mcp_registry, outdated, until
from tests.support.tool_calls import call

SLOW = ToolEntry(tool="mcp:harbour:slow", timeout=0.2, required=True)


def at(server: McpHttp, **more: object) -> dict[str, McpSettings]:
    """The configuration that has the server."""
    return {"harbour": McpSettings.model_validate({"url": server.url, **more})}


async def said(engine: ToolEngine, name: str = "quick") -> str:
    """What comes of a call."""
    return (await call(engine, name)).text


@pytest.mark.parametrize("events", [False, True])
@pytest.mark.parametrize("session", ["", "s-1"])
async def test_a_server_is_spoken_with_in_json_and_in_events_with_and_without_a_session(
    session: str, *, events: bool
) -> None:
    async with McpHttp(session=session, events=events) as server:
        async with mcp_engine(at(server)) as engine:
            assert engine.names == ["quick", "slow"]
            assert await said(engine) == "quick was called"
        posts = server.of("POST")
        assert [seen.asked for seen in posts] == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
        assert all(seen.headers["accept"] == "application/json, text/event-stream" for seen in posts)
        assert [seen.headers.get("mcp-protocol-version") for seen in posts] == [None, *["2025-11-25"] * 3]
        assert [seen.headers.get("mcp-session-id", "") for seen in posts] == ["", *[session] * 3]
        assert len(server.of("DELETE")) == (1 if session else 0)


async def test_headers_come_from_the_environment_and_are_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOUR_AUTH", "Bearer opensesame")

    def refuse(seen: Seen) -> Reply:
        return Reply(403, body=f"not {seen.headers['authorization']}".encode())

    async with McpHttp({"tools/call": refuse}) as server:
        settings = at(server, headers_env={"Authorization": "HARBOUR_AUTH"})
        async with mcp_engine(settings) as engine:
            text = await said(engine)
    assert {seen.headers["authorization"] for seen in server.seen} == {"Bearer opensesame"}
    assert text == (
        "the tool quick failed: the MCP server 'harbour' answered HTTP 403 Scripted: whoever asks with these "
        "headers may not: not ***"
    )


async def test_a_header_whose_variable_is_not_set_is_named() -> None:
    settings = McpSettings(url="http://127.0.0.1:1/mcp", headers_env={"Authorization": "NOT_SET_ANYWHERE"})
    with pytest.raises(
        McpError, match="the environment variable NOT_SET_ANYWHERE, which headers_env names, is not set"
    ):
        async with mcp_engine({"harbour": settings}):
            pass


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(500, body=b"<h1>It   broke</h1>"), "answered HTTP 500 Scripted: <h1>It broke</h1>"),
        (Reply(401), "answered HTTP 401 Scripted: it wants to know who asks, see headers_env"),
        (Reply(307, {"location": "https://other.example/mcp"}), "is elsewhere (HTTP 307): put https://other.example"),
        (
            Reply(200, {"content-type": "text/html"}, b"hello"),
            "answered with text/html where JSON or events were expected",
        ),
        (Reply(202), "ended its reply without an answer to the request"),
        (Reply(events=()), "ended its reply without an answer to the request"),
        (json_reply({"jsonrpc": "2.0", "id": 77, "result": {}}), "ended its reply without an answer to the request"),
        (json_reply("not a message"), "ended its reply without an answer to the request"),
        (Reply(events=("data: not json\n\n",)), "ended its reply without an answer to the request"),
        (
            json_reply({"jsonrpc": "2.0", "id": None, "error": {"code": -5, "message": "bad port"}}, 400),
            "refused: bad port (error -5)",
        ),
    ],
)
async def test_what_a_server_answers_instead_of_a_result_is_told_to_the_model(reply: Reply, text: str) -> None:
    async with McpHttp({"tools/call": lambda _: reply}) as server, mcp_engine(at(server)) as engine:
        done = await call(engine, "quick")
        assert done.result.is_error
        assert text in done.text
        del server.answers["tools/call"]
        assert await said(engine) == "quick was called"


async def test_a_server_that_cannot_be_reached_is_named_and_reached_again_when_it_is_back() -> None:
    async with McpHttp() as server, mcp_engine(at(server)) as engine:
        await said(engine)
        await server.close()
        text = await said(engine)
        assert text.startswith("the tool quick failed: the MCP server 'harbour' could not be reached: ConnectError")
        await server.open()
        assert await said(engine) == "quick was called"


async def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(McpError, match="the MCP server 'harbour' could not be reached: ConnectError"):
        async with mcp_engine({"harbour": McpSettings(url="http://127.0.0.1:1/mcp")}):
            pass


@pytest.mark.parametrize("status", [404, 400])
async def test_a_session_that_the_server_has_forgotten_is_begun_anew_and_the_call_made_again(status: int) -> None:
    async with McpHttp(session="s-1") as server, mcp_engine(at(server)) as engine:
        server.session = "s-2"
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "No valid session ID provided"}}
        server.answers["tools/call"] = lambda seen: (
            json_reply(error, status) if seen.headers["mcp-session-id"] != "s-2" else None
        )
        assert await said(engine) == "quick was called"
    assert [seen.headers.get("mcp-session-id") for seen in server.of("tools/call")] == ["s-1", "s-2"]
    assert len(server.of("initialize")) == 2


async def test_a_call_that_runs_out_of_time_is_cancelled_at_the_server() -> None:
    async with McpHttp({"tools/call": lambda _: Reply(events=(), hold=asyncio.Event())}) as server:
        async with mcp_engine(at(server), SLOW) as engine:
            assert (await said(engine, "slow")).startswith("the tool slow did not end within 0.2 s")
            await server.until(lambda: bool(server.of("notifications/cancelled")) and server.broken == 1)
        [cancelled] = server.of("notifications/cancelled")
        assert cancelled.body["params"]["requestId"] == server.of("tools/call")[0].body["id"]


async def test_progress_and_answer_may_share_a_stream_with_questions_of_the_server() -> None:
    def stream(seen: Seen) -> Reply:
        token = seen.body["params"]["_meta"]["progressToken"]
        progress = {"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}
        ping = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
        return Reply(
            events=(": hello\n\n", event({"jsonrpc": "2.0", **progress}), event(ping), event(text_result(seen, "done")))
        )

    async with McpHttp({"tools/call": stream}) as server, mcp_engine(at(server)) as engine:
        assert await said(engine) == "done"
        await server.until(lambda: any(seen.body.get("result") == {} for seen in server.seen))


async def test_a_broken_stream_is_taken_up_again_after_its_last_event() -> None:
    asked: list[Seen] = []

    def breaks(seen: Seen) -> Reply:
        asked.append(seen)
        return Reply(events=("id: e-1\nretry: 10\ndata:\n\n",))

    def goes_on(seen: Seen) -> Reply | None:
        if seen.headers.get("last-event-id") != "e-1":
            return None
        return Reply(events=(event(text_result(asked[0], "after all"), "e-2"),))

    async with McpHttp({"tools/call": breaks, "GET": goes_on}) as server, mcp_engine(at(server)) as engine:
        assert await said(engine) == "after all"


async def test_a_stream_that_breaks_again_and_again_is_given_up() -> None:
    never = Reply(events=("id: e-1\nretry: 1\ndata:\n\n",))
    async with McpHttp(
        {"tools/call": lambda _: never, "GET": lambda s: never if "last-event-id" in s.headers else None}
    ) as server:
        async with mcp_engine(at(server)) as engine:
            assert "ended its reply without an answer to the request" in await said(engine)
        assert len([seen for seen in server.of("GET") if "last-event-id" in seen.headers]) == 3


async def test_what_the_server_says_unasked_is_heard_also_after_its_stream_broke(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("enfilade.tools.mcp.event_stream.FIRST_DELAY", 0.01)
    changed = {"method": "notifications/tools/list_changed"}
    async with McpHttp() as server:
        with mcp_registry(at(server)) as registry:
            source = registry.source("mcp:harbour")
            for number in (1, 2):
                await source.load()
                assert not outdated(source)
                await server.push(changed, f"e-{number}")
                await until(lambda: outdated(source))
                server.drop_streams()
            await source.aclose()
        assert [seen.headers.get("last-event-id") for seen in server.of("GET")][:2] == [None, "e-1"]


async def test_a_server_without_a_stream_of_its_own_is_asked_for_it_once() -> None:
    async with McpHttp({"GET": lambda _: Reply(405)}) as server, mcp_engine(at(server)) as engine:
        for _ in range(3):
            assert await said(engine) == "quick was called"
    assert len(server.of("GET")) == 1


def stateless(seen: Seen) -> Reply:
    """Refuses the older way to begin."""
    error = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["2026-07-28"]}}
    return json_reply({"jsonrpc": "2.0", "id": seen.body["id"], "error": error}, 400)


def discover(*, changes: bool) -> Callable[[Seen], Reply]:
    """Answers to the newer way to begin."""
    capabilities = {"tools": {"listChanged": changes}}
    info = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete"}
    return lambda seen: json_reply(result(seen, info))


ROUTED = {
    "name": "quick",
    "inputSchema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "fast": {"type": "boolean", "x-mcp-header": "Fast"},
            "depth": {"type": "object", "properties": {"metres": {"type": "integer", "x-mcp-header": "Metres"}}},
        },
    },
}


async def test_a_server_of_the_version_without_a_beginning_is_told_with_each_request_who_asks() -> None:
    answers = {"initialize": stateless, "server/discover": discover(changes=False)}
    async with McpHttp(answers, tools=(ROUTED, {"name": "slow"})) as server, mcp_engine(at(server)) as engine:
        arguments = {"region": "Äußere Hebriden", "fast": True, "depth": {"metres": 12}}
        assert (await call(engine, "quick", arguments)).text == "quick was called"
        assert await said(engine, "slow") == "slow was called"
    first, second = server.of("tools/call")
    assert first.headers["mcp-protocol-version"] == "2026-07-28"
    assert (first.headers["mcp-method"], first.headers["mcp-name"]) == ("tools/call", "quick")
    assert first.headers["mcp-param-region"] == "=?base64?w4R1w59lcmUgSGVicmlkZW4=?="
    assert (first.headers["mcp-param-fast"], first.headers["mcp-param-metres"]) == ("true", "12")
    assert not any(name.startswith("mcp-param-") for name in second.headers)
    meta = first.body["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "enfilade"
    assert server.of("GET") == server.of("notifications/initialized") == []


async def test_closing_the_stream_is_how_a_call_is_cancelled_without_a_beginning() -> None:
    answers = {
        "initialize": stateless,
        "server/discover": discover(changes=False),
        "tools/call": lambda _: Reply(events=(), hold=asyncio.Event()),
    }
    async with McpHttp(answers) as server, mcp_engine(at(server), SLOW) as engine:
        await said(engine, "slow")
        await server.until(lambda: server.broken == 1)
        assert server.of("notifications/cancelled") == []


async def test_changes_are_listened_to_without_a_beginning() -> None:
    change = asyncio.Event()

    def listen(seen: Seen) -> Reply:
        assert seen.body["params"]["notifications"] == {"toolsListChanged": True}
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}
        return Reply(events=(), hold=change, late_events=(event(changed),))

    answers = {"initialize": stateless, "server/discover": discover(changes=True), "subscriptions/listen": listen}
    async with McpHttp(answers) as server:
        with mcp_registry(at(server)) as registry:
            source = registry.source("mcp:harbour")
            await source.load()
            assert not outdated(source)
            change.set()
            await until(lambda: outdated(source))
            await source.aclose()


async def test_a_reply_above_the_limit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enfilade.tools.mcp.http.LINE_LIMIT", 10_000)
    answers = {"tools/call": lambda seen: json_reply(text_result(seen, "x" * 20_000))}
    async with McpHttp(answers) as server, mcp_engine(at(server)) as engine:
        assert "sent a reply of more than 10,000 bytes" in await said(engine)

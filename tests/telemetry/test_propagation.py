"""The trace goes along: to models, MCP servers, HTTP interfaces, tools in Python, and guests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.candidate import Candidate
from enfilade.config import Config
from enfilade.host import Host
from enfilade.models.settings import ModelSettings
from tests.layers.scenario import FOLDER, OFFERS, Isolation, hosted, told
from tests.openapi.interface_server import InterfaceServer
from tests.support.collector import Collector, SeenSpan
from tests.support.mcp_http import McpHttp
from tests.support.mcp_setup import Record
from tests.support.mcp_setup import server as stdio_server
from tests.support.model_server import ModelServer
from tests.support.model_turns import text_turn
from tests.telemetry.traced import CALLER, CALLERS_TRACE, traced

EACH = pytest.mark.parametrize("isolation", ["inprocess", "process"])


def ids(traceparent: object) -> list[str]:
    """Trace and span; the flags say more than whether it is sampled (01), such as that its id is random (02)."""
    return str(traceparent).split("-")[1:3]


def of(*spans: SeenSpan) -> list[list[str]]:
    return [[span.trace, span.id] for span in spans]


def told_host(server: ModelServer, telemetry: Mapping[str, Any] | None, isolation: Isolation = "inprocess") -> Host:
    """A host of the strategies on trial, whose model is that server."""
    settings = {"default_model": "m", "models": {"m": ModelSettings(name="scripted", base_url=server.base_url)}}
    plugin = Candidate("trial", offers=OFFERS, isolation=isolation, paths=(FOLDER,), start_timeout=30)
    return Host(Config.model_validate(settings | {"telemetry": telemetry}), candidates=[plugin])


def sent(server: ModelServer) -> list[str | None]:
    return [seen.headers.get("traceparent") for seen in server.requests]


@EACH
async def test_each_request_to_a_model_has_the_span_of_its_own_call(isolation: Isolation) -> None:
    async with (
        Collector() as collector,
        ModelServer([text_turn("a")], repeat_last=True) as server,
        told_host(server, {"endpoint": collector.endpoint}, isolation) as host,
    ):
        await host.ask(told("ask", "ask", "ask"), Question("?", traceparent=CALLER, tracestate="vendor=1"))
        await host.ask(told("ask"), "?")
    chats = collector.named("chat")
    assert [ids(each) for each in sent(server)] == of(*chats)
    assert [seen.headers.get("tracestate") for seen in server.requests] == ["vendor=1"] * 3 + [None]
    assert len({chat.trace for chat in chats}) == 2


@pytest.mark.parametrize("telemetry", [None, {"propagate": False}, {"enabled": False}])
async def test_no_request_has_a_trace_where_it_is_not_wanted(telemetry: Mapping[str, Any] | None) -> None:
    async with Collector() as collector, ModelServer([text_turn("a")], repeat_last=True) as server:
        given = None if telemetry is None else {"endpoint": collector.endpoint, **telemetry}
        async with told_host(server, given) as host:
            await host.ask(told("ask", "ask"), Question("?", traceparent=CALLER))
    assert sent(server) == [None, None]


async def test_a_call_of_a_tool_of_an_mcp_server_on_its_stdin_has_the_trace_in_its_meta(tmp_path: Path) -> None:
    record = Record(tmp_path / "sent.jsonl")
    config = {"mcp": {"pier": stdio_server("Good", record.path)}}
    async with Collector() as collector, traced(collector, config=config) as host:
        await host.ask(told(["quick", {}], ["quick", {}], tools=["mcp:pier"]), "?")
    metas = [message["params"]["_meta"] for message in record.of("tools/call")]
    assert [ids(meta["traceparent"]) for meta in metas] == of(*collector.named("execute_tool"))
    assert all("progressToken" in meta for meta in metas)
    assert {span.attributes["gen_ai.tool.type"] for span in collector.named("execute_tool")} == {"extension"}
    assert all("traceparent" not in json.dumps(message) for message in record.of("tools/list"))


async def test_a_call_of_a_tool_of_an_mcp_server_over_http_has_the_trace_in_its_meta() -> None:
    async with (
        McpHttp() as server,
        Collector() as collector,
        traced(collector, config={"mcp": {"pier": {"url": server.url}}}) as host,
    ):
        await host.ask(told(["slow", {"text": "x"}], tools=["mcp:pier"]), "?")
    [call] = [seen for seen in server.seen if seen.asked == "tools/call"]
    assert [ids(call.body["params"]["_meta"]["traceparent"])] == of(collector.one("execute_tool"))


async def test_without_telemetry_a_call_of_an_mcp_server_has_no_trace(tmp_path: Path) -> None:
    record = Record(tmp_path / "sent.jsonl")
    async with hosted(None, config={"mcp": {"pier": stdio_server("Good", record.path)}}) as host:
        await host.ask(told(["quick", {}], tools=["mcp:pier"]), Question("?", traceparent=CALLER))
    [call] = record.of("tools/call")
    assert set(call["params"]["_meta"]) == {"progressToken"}


async def test_a_request_of_an_operation_has_the_trace_in_its_headers(tmp_path: Path) -> None:
    async with InterfaceServer() as server, Collector() as collector:
        paths = {"/tide": {"get": {"operationId": "tide", "responses": {"200": {"description": "fine"}}}}}
        document = {"openapi": "3.1.0", "info": {}, "servers": [{"url": server.url}], "paths": paths}
        (tmp_path / "api.json").write_text(json.dumps(document))
        config = {"openapi": {"port": {"document": str(tmp_path / "api.json")}}}
        async with traced(collector, config=config) as host:
            await host.ask(told(["tide", {}], tools=["openapi:port"]), "?")
    assert [ids(server.asked[-1].headers["traceparent"])] == of(collector.one("execute_tool"))


def depth() -> str:
    """Says which span is the current one, from the thread of a plain function."""
    return format(trace.get_current_span().get_span_context().span_id, "016x")


async def swell() -> str:
    """Says which span is the current one, on the loop."""
    return depth()


@EACH
async def test_what_a_python_tool_traces_is_a_child_of_its_call(isolation: Isolation) -> None:
    tools: Sequence[Any] = [depth, swell]
    async with Collector() as collector, traced(collector, isolation=isolation, tools=tools) as host:
        outcome = await host.ask(told(["depth", {}], ["swell", {}], tools=tools), "?")
    assert [call.result for call in outcome.rounds[0].calls] == [span.id for span in collector.named("execute_tool")]


@EACH
async def test_a_strategy_is_told_the_span_of_its_run(isolation: Isolation) -> None:
    async with Collector() as collector, traced(collector, isolation=isolation) as host:
        outcome = await host.ask(AgentConfig(strategy="tells"), "?")
    assert [ids(outcome.answer)] == of(collector.one("invoke_agent"))


@EACH
@pytest.mark.parametrize(("given", "told_it"), [(CALLER, CALLER), ("", ""), ("garbage", "")])
async def test_without_telemetry_a_strategy_is_told_the_callers_span(
    isolation: Isolation, given: str, told_it: str
) -> None:
    async with Collector() as collector, traced(collector, isolation=isolation, telemetry={"enabled": False}) as host:
        outcome = await host.ask(AgentConfig(strategy="tells"), Question("?", traceparent=given))
    assert (outcome.answer, collector.requests) == (told_it, 0)


@EACH
async def test_spans_of_a_strategys_own_are_children_of_its_run(
    isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Collector() as collector:
        monkeypatch.setenv("COLLECTOR", collector.endpoint)  # a guest gets it by its plugin's settings
        async with traced(collector, isolation=isolation) as host:
            for _ in range(2):
                asked = Question("?", traceparent=CALLER)
                assert (await host.ask(AgentConfig(strategy="own-spans"), asked)).answer == "done"
    runs = {span.id for span in collector.named("invoke_agent")}
    assert {span.parent for span in collector.named("thinking")} == runs
    assert {span.trace for span in collector.spans} == {CALLERS_TRACE}

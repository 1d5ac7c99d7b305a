import asyncio
import re
import socket

import pytest

from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.discovery.entry_points import installed_candidates
from enfilade.errors import ConfigError
from enfilade.host import Host
from enfilade.outcome import Status
from enfilade.telemetry import names
from tests.layers.scenario import hosted, told
from tests.support.collector import Collector, points
from tests.support.model_turns import call_turn, error_turn, text_turn
from tests.telemetry.traced import USAGE, traced

SERIES = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="(\\.|[^"\\])*",?)+\})? \S+')


async def test_tokens_and_durations_are_counted_as_the_conventions_say() -> None:
    turns = [call_turn("calculator", {"expression": "6*7"}, usage=USAGE), text_turn("42", usage=USAGE)]
    agent = AgentConfig(strategy="function-calling", tools=("calculator",))
    plugins = installed_candidates({}, "inprocess")
    async with Collector() as collector, traced(collector, turns, candidates=plugins) as host:
        await host.ask(agent, "What is 6 * 7?")
    tokens, calls = (
        collector.metrics["gen_ai.client.token.usage"],
        collector.metrics["gen_ai.client.operation.duration"],
    )
    assert (tokens.unit, calls.unit) == ("{token}", "s")
    counted = {str(values["gen_ai.token.type"]): (total, count) for values, total, count in points(tokens)}
    assert counted == {"input": (200, 2), "output": (40, 2)}
    assert tuple(tokens.histogram.data_points[0].explicit_bounds) == names.TOKEN_BUCKETS
    assert tuple(calls.histogram.data_points[0].explicit_bounds) == names.SECONDS_BUCKETS
    [(values, seconds, count)] = points(calls)
    assert (count, seconds > 0) == (2, True)
    assert set(values) == {
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "server.address",
        "server.port",
    }
    [(values, _, count)] = points(collector.metrics["gen_ai.execute_tool.duration"])
    assert (values, count) == ({"gen_ai.tool.name": "calculator"}, 1)
    [(values, _, count)] = points(collector.metrics["gen_ai.invoke_agent.duration"])
    assert (values["gen_ai.agent.name"], count) == ("function-calling", 1)


async def test_starts_and_crashes_of_plugins_are_counted() -> None:
    async with Collector() as collector, traced(collector, isolation="process") as host:
        assert (await host.ask(AgentConfig(strategy="tells"), "?")).status is Status.SUCCEEDED
        died = await host.ask(AgentConfig(strategy="dies"), "?")
        assert died.error is not None
        assert died.error.code.value == "guest_died"
    counted = {
        str(values["enfilade.plugin.state"]): total
        for values, total, _ in points(collector.metrics["enfilade.plugin.states"])
        if values["enfilade.plugin"] == "tracer"
    }
    assert (counted["ready"], counted["crashed"]) == (1, 1)
    assert [span.attributes.get("error.type") for span in collector.named("invoke_agent")] == [None, "guest_died"]


async def test_unknown_tokens_are_not_counted_as_none() -> None:
    async with Collector() as collector, traced(collector, [text_turn("a", usage=None)]) as host:
        await host.ask(told("ask"), "?")
    assert "gen_ai.client.token.usage" not in collector.metrics
    assert "gen_ai.usage.input_tokens" not in collector.one("chat").attributes


async def test_runs_are_counted_by_how_they_ended_and_none_stays_open() -> None:
    turns = [text_turn("a"), error_turn(503, {"error": "busy"})]
    async with Collector() as collector, traced(collector, turns) as host:
        await host.ask(told("ask"), "?")
        await host.ask(told("ask"), "?")
        text = host.metrics_text()
    own = {"gen_ai.agent.name": "on-loop", "enfilade.plugin": "trial"}
    assert points(collector.metrics["enfilade.runs.open"]) == [(own, 0, 1)]
    ended = {
        str(values["enfilade.run.status"]): (total, values.get("error.type"))
        for values, total, _ in points(collector.metrics["enfilade.runs"])
    }
    assert ended == {"succeeded": (1, None), "failed": (1, "model_failed")}
    assert (
        'enfilade_runs_total{enfilade_plugin="trial",enfilade_run_status="succeeded",gen_ai_agent_name="on-loop"} 1\n'
        in text
    )
    assert 'error_type="model_failed"' in text


async def test_the_text_is_what_prometheus_reads() -> None:
    async with Collector() as collector, traced(collector, [text_turn("a", usage=USAGE)]) as host:
        assert host.metrics_text() == ""
        await host.ask(told("ask"), "?")
        lines = host.metrics_text().splitlines()
    assert "# TYPE gen_ai_client_operation_duration_seconds histogram" in lines
    assert "# TYPE enfilade_runs_total counter" in lines
    assert "# TYPE enfilade_runs_open gauge" in lines
    assert all(SERIES.fullmatch(line) for line in lines if not line.startswith("# "))
    buckets = [line for line in lines if line.startswith("gen_ai_client_token_usage_bucket") and '"input"' in line]
    counts = [int(line.rpartition(" ")[2]) for line in buckets]
    assert counts == sorted(counts)
    assert counts[-1] == 1
    assert 'le="+Inf"' in buckets[-1]
    assert next(line for line in buckets if 'le="256"' in line).endswith(" 1")
    assert next(line for line in buckets if 'le="64"' in line).endswith(" 0")


async def test_labels_are_escaped() -> None:
    async with hosted(None, [text_turn("a")], config={"telemetry": {"export": False}}) as host:
        model = host.config.models["m"]
        odd = model.model_copy(update={"name": 'a "b"\\c\nd'})
        async with Host(
            host.config.model_copy(update={"models": {"m": odd}}), candidates=host.catalog.candidates
        ) as other:
            await other.ask(told("ask"), "?")
            text = other.metrics_text()
    assert r'gen_ai_request_model="a \"b\"\\c\nd"' in text
    assert all(SERIES.fullmatch(line) for line in text.splitlines() if not line.startswith("# "))


async def test_the_page_has_the_same_text_and_nothing_is_sent_without_export() -> None:
    address = f"127.0.0.1:{_free_port()}"
    telemetry = {"export": False, "prometheus": address}
    async with Collector() as collector, traced(collector, [text_turn("a")], telemetry=telemetry) as host:
        await host.ask(told("ask"), "?")
        head, body = await _get(address, "/metrics")
        assert "200 OK" in head
        assert "text/plain; version=0.0.4" in head
        assert body == host.metrics_text()
        assert "enfilade_runs_total" in body
        assert "404" in (await _get(address, "/other"))[0]
    assert collector.requests == 0
    with pytest.raises(ConnectionError):
        await _get(address, "/metrics")


async def test_an_address_that_is_taken_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        config = {"telemetry": {"export": False, "prometheus": address}}
        async with hosted(None, [text_turn("a")], config=config) as host:
            assert (await host.ask(told("ask"), "?")).answer == "a"
    assert f"no metrics at {address}: Address already in use" in caplog.text


def test_a_host_that_counts_nothing_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"add \[telemetry\] to its configuration"):
        Host(Config(), candidates=[]).metrics_text()


async def _get(address: str, path: str) -> tuple[str, str]:
    host, _, port = address.partition(":")
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        await writer.wait_closed()
    return head, body


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port

"""Traces and logs of the real command."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.collector import Collector
from tests.support.enfilade_command import Enfilade, emptied
from tests.telemetry.traced import CALLER, CALLERS_SPAN, CALLERS_TRACE

TOOL = '''
import logging


def sound(depth: int) -> str:
    """Sounds the depth."""
    logging.getLogger("enfilade.sounding").warning("it is %d m deep", depth)
    return f"{depth} m"
'''


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in an empty folder; whatever it starts must be gone at the end."""
    with emptied() as runtime:
        yield Enfilade(tmp_path, runtime)


async def test_a_run_of_the_command_is_a_child_of_its_callers_span(enfilade: Enfilade) -> None:
    async with Collector() as collector:
        enfilade.environment |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
            "TRACEPARENT": CALLER,
            "ENFILADE_TELEMETRY__FLUSH_SECONDS": "30",
        }
        done = await enfilade("run", "What is 12 * 7?", "-t", "calculator")
    assert done.code == 0, done.err
    assert "84" in done.text
    run = collector.one("invoke_agent")
    assert (run.trace, run.parent) == (CALLERS_TRACE, CALLERS_SPAN)
    assert collector.one("execute_tool").parent == run.id
    assert {chat.parent for chat in collector.named("chat demo")} == {run.id}
    assert "enfilade.runs" in collector.metrics


async def test_each_question_of_a_chat_is_a_child_of_its_callers_span(enfilade: Enfilade) -> None:
    async with Collector() as collector:
        enfilade.write("enfilade.toml", f'[telemetry]\nendpoint = "{collector.endpoint}"\nflush_seconds = 30\n')
        enfilade.environment |= {"TRACEPARENT": CALLER}
        done = await enfilade("chat", stdin=b"Hello\nWhat is 12 * 7?\n")
    assert done.code == 0, done.err
    assert [span.parent for span in collector.named("invoke_agent")] == [CALLERS_SPAN] * 2


async def test_a_collector_that_is_away_is_a_warning_after_the_answer(enfilade: Enfilade) -> None:
    enfilade.environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    done = await enfilade("run", "What is 12 * 7?", "-t", "calculator")
    assert done.code == 0
    assert "84" in done.text
    assert "warning: telemetry cannot be sent to http://127.0.0.1:9/v1/" in done.err
    assert "Traceback" not in done.err


async def test_the_log_as_json_lines_says_which_run_it_is(enfilade: Enfilade) -> None:
    enfilade.write("sounding.py", TOOL)
    enfilade.environment |= {"ENFILADE_LOG": "json"}
    done = await enfilade("run", "sound depth 7", "-t", "./sounding.py:sound", "--json")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    assert done.outcome["rounds"][0]["calls"], done.text
    [line] = [line for line in lines if line["logger"] == "enfilade.sounding"]
    assert line["message"] == "it is 7 m deep"
    assert (line["run_id"], line["plugin"]) == (done.outcome["run_id"], "enfilade-fc")
    assert line["level"] == "warning"


async def test_a_setting_of_telemetry_that_does_not_serve_is_told_without_a_traceback(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", '[telemetry]\nheaders_env = { authorization = "NO_SUCH_KEY" }\n')
    done = await enfilade("run", "Hello")
    assert done.code != 0
    assert "telemetry.headers_env names NO_SUCH_KEY" in done.err
    assert "Traceback" not in done.err


async def test_looking_at_plugins_sends_nothing(enfilade: Enfilade) -> None:
    async with Collector() as collector:
        enfilade.environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        done = await enfilade("plugins", "check", "function-calling")
    assert (done.code, done.err, collector.requests) == (0, "", 0)

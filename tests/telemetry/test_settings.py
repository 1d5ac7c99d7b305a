import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from enfilade.config import Config, LayerSettings, load_config
from enfilade.errors import ConfigError
from enfilade.extensions.loading import Extensions
from enfilade.host import Host
from enfilade.telemetry import pipeline, settings
from enfilade.telemetry.collector import Collector as Sending
from enfilade.telemetry.settings import TelemetrySettings
from tests.layers.scenario import told
from tests.support.collector import Collector
from tests.telemetry.traced import traced

BASE = "OTEL_EXPORTER_OTLP_ENDPOINT"
SOME = {BASE: "http://127.0.0.1:4318"}


def kinds(config: Config) -> list[str]:
    host = Host(config, candidates=[], extensions=Extensions())
    return [layer.name for layer in host.layers]


def test_the_section_brings_the_layer_and_it_is_the_outermost(tmp_path: Path) -> None:
    off = {"export": False}
    config = Config.model_validate({"telemetry": off, "store": {"url": f"sqlite:///{tmp_path}/r.db"}})
    assert kinds(config) == ["telemetry", "recording", "limits"]
    named = tuple(LayerSettings(kind=kind) for kind in ("limits", "telemetry"))
    assert kinds(Config.model_validate({"telemetry": off, "layers": named})) == ["limits", "telemetry"]
    assert kinds(Config.model_validate({"telemetry": {"enabled": False}})) == ["limits"]


def test_the_layer_without_the_section_says_what_is_missing() -> None:
    with pytest.raises(ConfigError, match=r"number 1 \(kind 'telemetry'\): it needs \[telemetry\]"):
        kinds(Config(layers=(LayerSettings(kind="telemetry"),)))


def test_the_layer_takes_no_options() -> None:
    config = Config.model_validate({"telemetry": {"export": False}, "layers": [{"kind": "telemetry", "endpoint": "x"}]})
    with pytest.raises(ConfigError, match=r"it takes no options, got endpoint; what is sent where is said in"):
        kinds(config)


def test_a_host_that_does_not_come_about_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    wrong = {"telemetry": {"endpoint": "http://127.0.0.1:9"}, "layers": [{"kind": "telemetry"}, {"kind": "nonsense"}]}
    with pytest.raises(ConfigError, match="nonsense"):
        kinds(Config.model_validate(wrong))
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
        assert not thread.is_alive(), thread


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("endpoint = 'localhost:4318'", "telemetry.endpoint: must start with http:// or https://"),
        ("prometheus = '9464'", "telemetry.prometheus: must be HOST:PORT, such as 127.0.0.1:9464"),
        ("prometheus = '127.0.0.1:99999'", "telemetry.prometheus: must be HOST:PORT"),
        ("flush_seconds = 0", "telemetry.flush_seconds: expected more than 0, found the number 0"),
        (
            "sampler = 'x'",
            "there are: content, enabled, endpoint, export, flush_seconds, headers_env, prometheus, propagate",
        ),
    ],
)
def test_a_setting_that_does_not_serve_is_named_with_its_place(section: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "enfilade.toml"
    file.write_text(f"[telemetry]\n{section}\n")
    with pytest.raises(ConfigError) as raised:
        load_config(file, {})
    assert said in str(raised.value)


def test_a_log_format_that_there_is_not_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"log_format \(ENFILADE_LOG\): expected 'text' or 'json', found the text 'xml'"
    ):
        load_config(None, {"ENFILADE_LOG": "xml"})


def test_the_environment_alone_turns_it_on() -> None:
    assert load_config(None, {}).telemetry is None
    assert load_config(None, SOME).telemetry == TelemetrySettings()
    traces = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}
    assert load_config(None, traces).telemetry == TelemetrySettings()
    assert load_config(None, {"ENFILADE_TELEMETRY__CONTENT": "true"}).telemetry == TelemetrySettings(content=True)
    assert load_config(None, {"ENFILADE_LOG": "json"}).log_format == "json"


def test_the_environment_turns_it_off(tmp_path: Path) -> None:
    off = load_config(None, SOME | {"OTEL_SDK_DISABLED": "true"})
    assert off.telemetry == TelemetrySettings(enabled=False)
    file = tmp_path / "enfilade.toml"
    file.write_text("[telemetry]\nenabled = false\n")
    assert load_config(file, SOME).telemetry == TelemetrySettings(enabled=False)


def test_the_standard_variable_for_content_counts_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    wanted = SOME | {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    assert load_config(None, wanted).telemetry == TelemetrySettings(content=True)
    file = tmp_path / "enfilade.toml"
    file.write_text("[telemetry]\ncontent = false\n")
    assert load_config(file, wanted).telemetry == TelemetrySettings(content=False)


def test_without_the_extra_the_section_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "is_installed", lambda: False)
    with pytest.raises(ConfigError, match=r"\[telemetry\] needs the extra 'otel': pip install 'enfilade\[otel\]'"):
        Host(Config(telemetry=TelemetrySettings()), candidates=[])


def test_without_the_extra_the_environment_alone_turns_nothing_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "is_installed", lambda: False)
    assert load_config(None, SOME).telemetry is None


def test_a_header_whose_variable_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARBOUR_KEY", raising=False)
    config = Config(telemetry=TelemetrySettings(headers_env={"Authorization": "HARBOUR_KEY"}))
    with pytest.raises(ConfigError, match=r"telemetry\.headers_env names HARBOUR_KEY, which the environment does not"):
        Host(config, candidates=[])


@pytest.mark.parametrize(
    ("named", "environment", "called"),
    [
        ("", {}, "enfilade"),
        ("", {"OTEL_SERVICE_NAME": "pilot"}, "pilot"),
        ("harbour", {"OTEL_SERVICE_NAME": "pilot"}, "harbour"),
        ("", {"OTEL_RESOURCE_ATTRIBUTES": "service.name=tug,deployment.environment=trial"}, "tug"),
    ],
)
async def test_the_service_has_a_name(
    named: str, environment: dict[str, str], called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    async with Collector() as collector, traced(collector, telemetry={"service_name": named}) as host:
        await host.ask(told({"say": "x"}), "?")
    resource = collector.one("invoke_agent").resource
    assert resource["service.name"] == called
    assert resource.get("deployment.environment") == ("trial" if called == "tug" else None)


@pytest.mark.parametrize("signal", ["TRACES", "METRICS"])
async def test_a_signal_that_the_environment_does_not_want_sent_is_not_sent(
    signal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"OTEL_{signal}_EXPORTER", "none")
    async with Collector() as collector, traced(collector) as host:
        await host.ask(told({"say": "x"}), "?")
        assert "enfilade_runs_total" in host.metrics_text()
    assert (bool(collector.spans), bool(collector.metrics)) == (signal == "METRICS", signal == "TRACES")


HERE = "http://localhost:4318"


@pytest.mark.parametrize(
    ("section", "variables", "traces", "metrics"),
    [
        ({}, {}, None, None),
        ({"prometheus": "127.0.0.1:9464"}, {}, None, None),
        ({"export": True}, {}, f"{HERE}/v1/traces", f"{HERE}/v1/metrics"),
        ({"endpoint": "http://quay:1"}, {}, "http://quay:1/v1/traces", "http://quay:1/v1/metrics"),
        ({}, SOME, f"{SOME[BASE]}/v1/traces", f"{SOME[BASE]}/v1/metrics"),
        ({}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://quay:1/t"}, "http://quay:1/t", None),
        ({}, {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://quay:1/m"}, None, "http://quay:1/m"),
        ({"endpoint": "http://quay:1"}, {"OTEL_METRICS_EXPORTER": "none"}, "http://quay:1/v1/traces", None),
    ],
)
def test_only_where_a_collector_is_named_is_anything_sent(
    section: dict[str, Any], variables: dict[str, str], traces: str | None, metrics: str | None
) -> None:
    sending = Sending(TelemetrySettings.model_validate(section), variables)
    spans, counts = sending.spans(), sending.metrics()
    assert (getattr(spans, "_endpoint", None), getattr(counts, "_endpoint", None)) == (traces, metrics)


def test_nothing_of_opentelemetry_is_imported_where_it_is_off() -> None:
    program = """
import asyncio, sys
from enfilade import AgentConfig, Host
from enfilade.config import Config

async def main():
    async with Host(Config(isolation="inprocess")) as host:
        outcome = await host.ask(AgentConfig(model="demo", tools=("calculator",)), "What is 12 * 7?")
        assert "84" in outcome.answer, outcome

asyncio.run(main())
print([name for name in sys.modules if name.split(".")[0] in ("opentelemetry", "requests")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr

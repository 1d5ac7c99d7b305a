"""What the configuration says of traces and metrics."""

import importlib.util
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, field_validator

from enfilade.secrecy.variable import VariableName

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Where one of OpenTelemetry's own variables says where a collector is, telemetry is on without a word of ours."""

_CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONTENT_WORDS = frozenset({"true", "span_only", "span_and_event"})


class TelemetrySettings(BaseModel):
    """Traces and metrics by OpenTelemetry (`[telemetry]`, extra `enfilade[otel]`).

    What is not said here, OpenTelemetry's own variables say: `OTEL_EXPORTER_OTLP_ENDPOINT`, `..._HEADERS`,
    `..._CERTIFICATE`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_...`.

    Attributes:
        enabled: False turns all of it off.
        endpoint: The collector's base URL, to which `/v1/traces` and `/v1/metrics` are added (OTLP over HTTP).
        headers_env: HTTP headers for the collector: header name to the environment variable that holds its value.
        service_name: What this host is called; empty leaves it to `OTEL_SERVICE_NAME`, else `enfilade`.
        content: Whether spans hold what was asked, answered and given to tools, and errors their whole text.
        propagate: Whether `traceparent` goes with requests to models, MCP servers and HTTP interfaces.
        export: Whether anything is sent; False keeps the metrics for `Host.metrics_text()` and `prometheus`. None sends
            where a collector is named, here or by OpenTelemetry's variables; True sends to OTLP's own default else.
        flush_seconds: Seconds that a host waits at its end for the last spans and metrics to be sent.
        prometheus: `HOST:PORT` at which `/metrics` has the metrics as Prometheus reads them; empty is nowhere.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    endpoint: str = ""
    headers_env: dict[str, VariableName] = Field(default_factory=dict)
    service_name: str = ""
    content: bool = False
    propagate: bool = True
    export: bool | None = None
    flush_seconds: float = Field(default=3.0, gt=0, le=60)
    prometheus: str = ""

    @field_validator("endpoint")
    @classmethod
    def _http(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError(f"must start with http:// or https://, got {value!r}")
        return value.rstrip("/").removesuffix("/v1/traces")

    @field_validator("prometheus")
    @classmethod
    def _host_and_port(cls, value: str) -> str:
        if value:
            host, _, port = value.rpartition(":")
            if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:  # noqa: PLR2004
                raise ValueError(f"must be HOST:PORT, such as 127.0.0.1:9464, got {value!r}")
        return value


def overlay_standard(values: dict[str, object], variables: Mapping[str, str]) -> None:
    """Puts what OpenTelemetry's own variables say of telemetry as a whole over the values of a configuration.

    Args:
        values: The configuration's values; `telemetry` is changed, or added.
        variables: The environment.
    """
    given = values.get("telemetry")
    if given is None and _is_asked_for(variables):
        given = {}
    if not isinstance(given, dict):
        return
    section = dict(given)
    if variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        section["enabled"] = False
    if variables.get(_CONTENT_VARIABLE, "").strip().lower() in _CONTENT_WORDS:
        section.setdefault("content", True)
    values["telemetry"] = section


def _is_asked_for(variables: Mapping[str, str]) -> bool:
    """Whether the environment names a collector, and there is what speaks to it."""
    return any(variables.get(name) for name in ENDPOINT_VARIABLES) and is_installed()


def is_installed() -> bool:
    """Whether the extra `otel` is installed; imports nothing of it."""
    needed = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    try:
        return all(importlib.util.find_spec(name) is not None for name in needed)
    except ModuleNotFoundError:
        return False

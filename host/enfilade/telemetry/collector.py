"""The way to a collector: OTLP over HTTP, from threads of OpenTelemetry's own."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from enfilade.errors import ConfigError
from enfilade.loopback import is_loopback
from enfilade.secrecy.address import shown_address
from enfilade.telemetry.settings import TelemetrySettings

if TYPE_CHECKING:
    import requests
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

DEFAULT_ENDPOINT = "http://localhost:4318"
"""Where a collector is that nobody names, where `export` is true (OTLP's own default)."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Delivery:
    """How the sending goes.

    Attributes:
        fails: Whether the last try failed.
        hurries: Set when the host ends: then what cannot be reached is not tried again.
        warned: Whether the operator was told; once is enough.
    """

    fails: bool = False
    hurries: bool = False
    warned: bool = False

    def failed(self, url: str, reason: str) -> None:
        """Takes note of a failure; the first one is a warning."""
        self.fails = True
        if not self.warned:
            self.warned = True
            _log.warning("telemetry cannot be sent to %s: %s; runs go on without", shown_address(url), reason)

    def succeeded(self) -> None:
        """Takes note of a success."""
        self.fails = False


class Collector:
    """Makes what sends spans and metrics to one collector.

    Args:
        settings: Where it is, and which headers it wants.
        environment: The variables.

    Raises:
        ConfigError: A header's variable is not set.
    """

    def __init__(self, settings: TelemetrySettings, environment: Mapping[str, str] = os.environ) -> None:
        self.delivery = Delivery()
        self._endpoint = settings.endpoint
        self._fallback = DEFAULT_ENDPOINT if settings.export else ""
        self._environment = environment
        self._headers = _headers(settings.headers_env, environment)

    def spans(self) -> "SpanExporter | None":
        """What sends spans; None where no collector is named, or OpenTelemetry's own variable wants none sent."""
        url = self._url("traces")
        if not url or not self._wants("TRACES"):
            return None
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(endpoint=url, headers=self._headers, session=_session(url, self.delivery))

    def metrics(self) -> "MetricExporter | None":
        """What sends metrics; None where no collector is named, or OpenTelemetry's own variable wants none sent."""
        url = self._url("metrics")
        if not url or not self._wants("METRICS"):
            return None
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        return OTLPMetricExporter(endpoint=url, headers=self._headers, session=_session(url, self.delivery))

    def _wants(self, signal: str) -> bool:
        return self._environment.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() != "none"

    def _url(self, signal: str) -> str:
        """Where a signal goes; empty where nobody names a collector and nobody asks to send without."""
        if self._endpoint:
            return f"{self._endpoint}/v1/{signal}"
        if named := self._environment.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT"):
            return named
        base = self._environment.get("OTEL_EXPORTER_OTLP_ENDPOINT") or self._fallback
        return base and base.rstrip("/") + f"/v1/{signal}"


def _headers(named: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str] | None:
    unset = [variable for variable in named.values() if not environment.get(variable)]
    if unset:
        raise ConfigError(f"telemetry.headers_env names {' and '.join(unset)}, which the environment does not have")
    return {name: environment[variable] for name, variable in named.items()} or None


def _session(url: str, delivery: Delivery) -> "requests.Session":
    """A session that tells how it goes. Loopback is never reached through a proxy of the environment."""
    import requests

    class Watched(requests.Session):
        def request(self, *given: object, **named: object) -> requests.Response:
            try:
                response = super().request(*given, **named)  # type: ignore[arg-type]  # as they came
            except requests.RequestException as error:
                delivery.failed(shown, _reason(error))
                if delivery.hurries:
                    raise RuntimeError("not tried again, since the host ends") from error
                raise
            if response.ok:
                delivery.succeeded()
            else:
                delivery.failed(shown, f"it answers {response.status_code}")
            return response

    shown = _without_credentials(url)
    session = Watched()
    session.trust_env = not is_loopback(urlsplit(url).hostname or "")
    return session


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def _reason(error: BaseException) -> str:
    """The innermost reason, in words; addresses of objects and whole requests are left out."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error.strerror or str(error) if isinstance(error, OSError) else type(error).__name__

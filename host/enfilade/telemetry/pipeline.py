"""What a host sends its spans and metrics through, from its first run to its end."""

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from importlib_metadata import PackageNotFoundError, version

from enfilade.errors import ConfigError
from enfilade.telemetry.collector import Collector
from enfilade.telemetry.exposition import exposition
from enfilade.telemetry.instruments import PluginStates
from enfilade.telemetry.metrics_page import MetricsPage
from enfilade.telemetry.settings import TelemetrySettings, is_installed

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

SERVICE = "enfilade"
"""What a host is called that nobody names."""

_HOPELESS_SECONDS = 0.5

_log = logging.getLogger(__name__)


class Pipeline:
    """Makes spans and metrics, and sends them to a collector from threads of its own.

    Runs only ever put into its bounded queues: a collector that is slow or away costs them nothing, and what there is
    no room for is dropped.

    Args:
        settings: Where to, and what.
        environment: The variables; OpenTelemetry itself reads more of them from the process's own.

    Attributes:
        plugins: Counts the states of plugins.

    Raises:
        ConfigError: The extra `otel` is not installed, or a setting cannot be used.
    """

    def __init__(self, settings: TelemetrySettings, environment: Mapping[str, str] = os.environ) -> None:
        if not is_installed():
            raise ConfigError("[telemetry] needs the extra 'otel': pip install 'enfilade[otel]'")
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader

        self.settings = settings
        self._collector = Collector(settings, environment) if settings.export is not False else None
        self._reader = InMemoryMetricReader()
        resource = _resource(settings)
        self.tracer_provider = self._traces(resource)
        self.meter_provider = self._metrics(resource)
        self.plugins = PluginStates(self.meter_provider)
        self._page = MetricsPage(settings.prometheus, self.metrics_text) if settings.prometheus else None

    def open(self) -> None:
        """Begins to serve `/metrics`, where that is asked for; an address that cannot be had is a warning."""
        if self._page is not None:
            try:
                self._page.open()
            except OSError as error:
                _log.warning("no metrics at %s: %s", self.settings.prometheus, error.strerror or error)

    def metrics_text(self) -> str:
        """The metrics as they stand, in the text form that Prometheus reads."""
        return exposition(self._reader.get_metrics_data())

    async def aclose(self) -> None:
        """Sends what is left, within `flush_seconds`; what cannot be sent by then is lost. Never fails."""
        if self._page is not None:
            await asyncio.to_thread(self._page.close)
        delivery = None if self._collector is None else self._collector.delivery
        if delivery is not None:
            delivery.hurries = True
        seconds = self.settings.flush_seconds
        if delivery is not None and delivery.fails:
            seconds = min(seconds, _HOPELESS_SECONDS)
        ends = [_in_thread(self.tracer_provider.shutdown), _in_thread(self.meter_provider.shutdown)]
        _, late = await asyncio.wait(ends, timeout=seconds)
        if late:
            _log.warning("telemetry of the last moments was not sent within %g s and is lost", seconds)

    def discard(self) -> None:
        """Ends the threads of one that was never opened, because its host did not come about; waits for nothing."""
        for end in (self.tracer_provider.shutdown, self.meter_provider.shutdown):
            _begin(partial(_quietly, end))

    def _traces(self, resource: "Resource") -> "TracerProvider":
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        if self._collector is not None and (exporter := self._collector.spans()) is not None:
            provider.add_span_processor(BatchSpanProcessor(exporter))
        return provider

    def _metrics(self, resource: "Resource") -> "MeterProvider":
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader

        readers: list[MetricReader] = [self._reader]
        if self._collector is not None and (exporter := self._collector.metrics()) is not None:
            readers.append(PeriodicExportingMetricReader(exporter))
        return MeterProvider(readers, resource, shutdown_on_exit=False)


def _resource(settings: TelemetrySettings) -> "Resource":
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource

    found = Resource.create({SERVICE_VERSION: _version()})
    name = str(found.attributes.get(SERVICE_NAME, ""))
    if settings.service_name or name.startswith("unknown_service"):
        found = found.merge(Resource({SERVICE_NAME: settings.service_name or SERVICE}))
    return found


def _version() -> str:
    try:
        return version("enfilade")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "0"


def _in_thread(work: Callable[[], object]) -> asyncio.Future[None]:
    """Runs it in a daemon thread: neither the host nor the interpreter waits for one that hangs."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not done.done():
            done.set_result(None)

    def run() -> None:
        _quietly(work)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle)

    _begin(run)
    return done


def _quietly(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception as error:  # noqa: BLE001 - nothing depends on it
        _log.debug("telemetry could not be ended in order: %s", error)


def _begin(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="telemetry-end", daemon=True).start()

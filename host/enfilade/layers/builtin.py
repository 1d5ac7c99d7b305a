"""The kinds of layers that the host brings. A new one is a file and an entry here."""

from collections.abc import Mapping
from typing import Any

from enfilade.errors import ConfigError
from enfilade.layers.approval import Approval
from enfilade.layers.costs import Costs
from enfilade.layers.counts import MemoryCounts
from enfilade.layers.kind import LayerKind, Supplies, configured
from enfilade.layers.layer import Layer
from enfilade.layers.limits import ExecutionLimits
from enfilade.layers.petition import Ask, AskRecord
from enfilade.layers.quota import Quota
from enfilade.layers.recording import Recording
from enfilade.layers.repetition import Repetition
from enfilade.layers.retry import Retry
from enfilade.layers.telemetry import Telemetry
from enfilade.layers.terminal import Terminal


def _limits(options: Mapping[str, Any], _supplies: Supplies) -> Layer:
    return configured(ExecutionLimits, options)


def _quota(options: Mapping[str, Any], supplies: Supplies) -> Layer:
    return configured(Quota, options, counts=supplies.counts or MemoryCounts())


def _retry(options: Mapping[str, Any], _supplies: Supplies) -> Layer:
    return configured(Retry, options)


def _repetition(options: Mapping[str, Any], _supplies: Supplies) -> Layer:
    return configured(Repetition, options)


def _approval(options: Mapping[str, Any], supplies: Supplies) -> Layer:
    rest = dict(options)
    return configured(Approval, rest, ask=_asker(rest.pop("via", "terminal"), supplies))


def _asker(via: object, supplies: Supplies) -> Ask:
    if via == "terminal":
        return Terminal()
    if via != "record":
        raise ConfigError(f"via: expected 'terminal' or 'record', got {via!r}")
    if supplies.petitions is None:
        raise ConfigError("via = 'record' needs a store that keeps petitions, and this host has none")
    return AskRecord(supplies.petitions)


def _recording(options: Mapping[str, Any], supplies: Supplies) -> Layer:
    if options:
        raise ConfigError(f"it takes no options, got {', '.join(options)}; how records are kept is said in [store]")
    if supplies.recorder is None:
        raise ConfigError("it needs a store, and this host has none")
    return Recording(supplies.recorder)


def _costs(options: Mapping[str, Any], _supplies: Supplies) -> Layer:
    if options:
        raise ConfigError(f"it takes no options, got {', '.join(options)}; prices are said in [prices.MODEL]")
    return Costs()


def _telemetry(options: Mapping[str, Any], supplies: Supplies) -> Layer:
    if options:
        raise ConfigError(f"it takes no options, got {', '.join(options)}; what is sent where is said in [telemetry]")
    if supplies.pipeline is None:
        raise ConfigError("it needs [telemetry], which says what is sent where")
    settings = supplies.pipeline.settings
    return Telemetry(
        content=settings.content,
        propagate=settings.propagate,
        tracer_provider=supplies.pipeline.tracer_provider,
        meter_provider=supplies.pipeline.meter_provider,
    )


BUILTIN = (
    LayerKind("limits", "ends runs that use more steps, time, tokens, money or bytes than they may", _limits),
    LayerKind("quota", "bounds what users, plugins and models may use in a span of time", _quota),
    LayerKind("retry", "asks a model again that failed in a way that may pass", _retry),
    LayerKind("repetition", "tells a model that repeats itself, and then stops it", _repetition),
    LayerKind("approval", "asks before chosen tools are called", _approval),
    LayerKind("recording", "writes down what happens", _recording),
    LayerKind("costs", "prices model calls", _costs),
    LayerKind("telemetry", "makes OpenTelemetry spans and metrics", _telemetry),
)

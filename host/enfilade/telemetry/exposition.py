"""Metrics in the text form that Prometheus reads (version 0.0.4)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import HistogramDataPoint, Metric, MetricsData

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_NOT_NAME = re.compile(r"[^a-zA-Z0-9_:]+")
_UNITS = {"s": "seconds", "By": "bytes", "ms": "milliseconds"}


def exposition(data: "MetricsData | None") -> str:
    """The text; empty when nothing was counted yet.

    Names follow OpenTelemetry's rules for Prometheus: dots become `_`, a unit is a suffix, a counter ends in `_total`.
    """
    if data is None:
        return ""
    lines: list[str] = []
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                lines.extend(_metric(metric))
    return "".join(f"{line}\n" for line in lines)


def _metric(metric: "Metric") -> Iterator[str]:
    from opentelemetry.sdk.metrics.export import Histogram, Sum

    data = metric.data
    monotonic = isinstance(data, Sum) and data.is_monotonic
    kind = "histogram" if isinstance(data, Histogram) else "counter" if monotonic else "gauge"
    name = _name(metric.name, metric.unit or "", counter=monotonic)
    yield f"# HELP {name} {_help(metric.description or '')}"
    yield f"# TYPE {name} {kind}"
    if isinstance(data, Histogram):
        for point in data.data_points:
            yield from _histogram(name, point)
        return
    for each in data.data_points:
        if (value := getattr(each, "value", None)) is not None:
            yield f"{name}{_labels(each.attributes)} {_number(value)}"


def _histogram(name: str, point: "HistogramDataPoint") -> Iterator[str]:
    total = 0
    bounds = [*map(_number, point.explicit_bounds), "+Inf"]
    for bound, count in zip(bounds, point.bucket_counts, strict=True):
        total += count
        yield f"{name}_bucket{_labels(point.attributes, [('le', bound)])} {total}"
    yield f"{name}_sum{_labels(point.attributes)} {_number(point.sum)}"
    yield f"{name}_count{_labels(point.attributes)} {point.count}"


def _name(name: str, unit: str, *, counter: bool) -> str:
    text = _NOT_NAME.sub("_", name)
    suffix = _UNITS.get(unit, "")
    if suffix and not text.endswith(f"_{suffix}"):
        text += f"_{suffix}"
    return f"{text}_total" if counter and not text.endswith("_total") else text


def _labels(attributes: Mapping[str, object] | None, more: Iterable[tuple[str, str]] = ()) -> str:
    pairs = [(_NOT_NAME.sub("_", key), str(value)) for key, value in sorted((attributes or {}).items())]
    text = ",".join(f'{key}="{_escaped(value)}"' for key, value in [*pairs, *more])
    return f"{{{text}}}" if text else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))

"""A real OTLP/HTTP collector on loopback: it takes in what exporters send, decodes the protobuf, and keeps it."""

import asyncio
import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.support.loopback import Loopback, read_request

Plain = str | int | float | bool | list["Plain"]


@dataclass(frozen=True, slots=True)
class SeenSpan:
    """A span as it arrived."""

    name: str
    trace: str
    id: str
    parent: str
    kind: str
    attributes: Mapping[str, Plain]
    status: str
    text: str
    resource: Mapping[str, Plain]
    seconds: float


class Collector(Loopback):
    """Listens at `endpoint` and answers as `status` says; `hangs` lets it never answer.

    Attributes:
        spans: What has arrived so far, in order.
        metrics: The last state of each metric.
        headers: Those of each request.
    """

    limit = 2**24

    def __init__(self, *, status: int = 200, hangs: bool = False) -> None:
        super().__init__()
        self.spans: list[SeenSpan] = []
        self.metrics: dict[str, Metric] = {}
        self.headers: list[Mapping[str, str]] = []
        self.requests = 0
        self._status = status
        self._hangs = hangs

    @property
    def endpoint(self) -> str:
        """Where exporters find it."""
        return self.origin

    def named(self, start: str) -> list[SeenSpan]:
        """The spans whose names begin so."""
        return [span for span in self.spans if span.name.startswith(start)]

    def one(self, start: str) -> SeenSpan:
        """The only span whose name begins so."""
        [span] = self.named(start)
        return span

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Takes in what exporters send."""
        while True:
            request = await read_request(reader)
            compressed = request.headers.get("content-encoding") == "gzip"
            self.requests += 1
            self.headers.append(request.headers)
            if not self._hangs and self._status == 200:
                self._take(request.target, gzip.decompress(request.body) if compressed else request.body)
            await self.tell()
            if self._hangs:
                await asyncio.Event().wait()
            writer.write(f"HTTP/1.1 {self._status} x\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()

    def _take(self, path: str, body: bytes) -> None:
        if path.endswith("/v1/traces"):
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                own = _attributes(resource.resource.attributes)
                self.spans += [_seen(span, own) for scope in resource.scope_spans for span in scope.spans]
        else:
            assert path.endswith("/v1/metrics")
            for measured in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics |= {metric.name: metric for scope in measured.scope_metrics for metric in scope.metrics}


def points(metric: Metric) -> list[tuple[Mapping[str, Plain], float, int]]:
    """Attributes, sum (or value) and count of each point of a metric."""
    if metric.HasField("histogram"):
        return [(_attributes(point.attributes), point.sum, point.count) for point in metric.histogram.data_points]
    return [
        (_attributes(point.attributes), float(point.as_int or point.as_double), 1) for point in metric.sum.data_points
    ]


def _seen(span: Span, resource: Mapping[str, Plain]) -> SeenSpan:
    return SeenSpan(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        attributes=_attributes(span.attributes),
        status=Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_"),
        text=span.status.message,
        resource=resource,
        seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
    )


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Plain]:
    return {pair.key: _plain(pair.value) for pair in pairs}


def _plain(value: AnyValue) -> Plain:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    found: Plain = getattr(value, kind) if kind else ""
    return found

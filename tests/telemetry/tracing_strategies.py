"""Strategies that make spans of their own, or tell what they were given; imported by name, here and in guests."""

import os
from collections.abc import AsyncGenerator, Generator
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from enfilade_sdk.session import Session
from enfilade_sdk.strategy import AgentStrategy


class OwnSpans(AgentStrategy):
    """Makes a span, in the thread of a plain generator, and sends it to a collector itself."""

    name = "own-spans"

    def invoke(self, *, params: dict[str, Any], session: Session) -> Generator[Any, None, None]:
        provider = TracerProvider(shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"{os.environ['COLLECTOR']}/v1/traces")
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        with trace.get_tracer("tracer", tracer_provider=provider).start_as_current_span("thinking"):
            yield "done"
        provider.shutdown()


class Tells(AgentStrategy):
    """Says the trace that it was given."""

    name = "tells"

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[Any, None]:
        yield session.traceparent


class Dies(AgentStrategy):
    """Ends its process."""

    name = "dies"

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[Any, None]:
        yield "going"
        os._exit(7)

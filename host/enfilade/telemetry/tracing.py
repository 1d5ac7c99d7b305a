"""The spans of a host."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enfilade.telemetry import names
from enfilade.telemetry.place import HEADERS, InPlace, Place

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, TracerProvider

Attributes = Mapping[str, str | int | float | bool | Sequence[str]]


class Begun:
    """A span under way, and the scope in which it is the current one, for whatever is traced by others meanwhile.

    Args:
        span: The span.
        context: OpenTelemetry's context in which it is the current one.
        place: The place it makes, for logs and outgoing requests.
    """

    __slots__ = ("_attach", "_detach", "_in_place", "_span", "context", "place")

    def __init__(self, span: "Span", context: "Context", place: Place) -> None:
        from opentelemetry.context import attach, detach

        self.context = context
        self.place = place
        self._span = span
        self._in_place = InPlace(place)
        self._attach, self._detach = attach, detach  # an import at each step would cost more than the step

    def enter(self) -> tuple[Any, Any]:
        """Makes it the current span."""
        return self._attach(self.context), self._in_place.enter()

    def leave(self, token: tuple[Any, Any]) -> None:
        """Makes the one before the current span again."""
        self._in_place.leave(token[1])
        self._detach(token[0])

    def end(self, attributes: Attributes, *, error: str | None = None, text: str = "") -> None:
        """Ends it.

        Args:
            attributes: What is known of it now.
            error: What kind of error it ended in; None for none.
            text: What went wrong, in words.
        """
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attributes(attributes)
        if error is not None:
            self._span.set_attribute(names.ERROR, error)
            self._span.set_status(Status(StatusCode.ERROR, text or error))
        self._span.end()


class Tracing:
    """Begins spans.

    Args:
        provider: Where they go; None is OpenTelemetry's global one.
        propagate: Whether requests to others take the trace along.
    """

    def __init__(self, provider: "TracerProvider | None" = None, *, propagate: bool = True) -> None:
        from opentelemetry import trace

        self._tracer = trace.get_tracer("enfilade", tracer_provider=provider)
        self._propagate = propagate

    def root(self, name: str, attributes: Attributes, *, caller: Mapping[str, str], of: Place) -> Begun:
        """Begins the span of a run.

        Args:
            name: Its name.
            attributes: What is known of it.
            caller: The caller's `traceparent` and `tracestate`; where they are empty, the current span of this task is
                the parent, if there is one.
            of: The run.
        """
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        parent = TraceContextTextMapPropagator().extract(caller) if caller.get("traceparent") else None
        return self._begun(name, attributes, parent, of, SpanKind.INTERNAL)

    def call(self, name: str, attributes: Attributes, run: Begun, *, remote: bool) -> Begun:
        """Begins the span of a call of a run.

        Args:
            name: Its name.
            attributes: What is known of it.
            run: The span of its run.
            remote: Whether what is called is usually another process.
        """
        from opentelemetry.trace import SpanKind

        kind = SpanKind.CLIENT if remote else SpanKind.INTERNAL
        return self._begun(name, attributes, run.context, run.place, kind)

    def _begun(self, name: str, attributes: Attributes, parent: "Context | None", of: Place, kind: "SpanKind") -> Begun:
        from opentelemetry.trace import set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        span = self._tracer.start_span(name, parent, kind, attributes)
        context = set_span_in_context(span, parent)
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier, context)
        parent_of_others = {name: carrier.get(name, "") for name in HEADERS}
        place = Place(of.run_id, of.plugin, of.life, **parent_of_others, propagate=self._propagate)
        return Begun(span, context, place)

"""The trace of a run, for strategies that make spans of their own."""

import sys


def join_trace(traceparent: str) -> None:
    """Makes the run's span the parent of what this task traces from here on, where the plugin uses OpenTelemetry.

    To be called in the run's own task, whose context ends with it. A plugin that has not imported OpenTelemetry by then
    makes no spans, and nothing is imported for it.
    """
    if not traceparent or "opentelemetry.trace" not in sys.modules:
        return
    from opentelemetry.context import attach
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))

"""The trace that the command's caller has begun."""

import os
from typing import TypedDict


class CallerTrace(TypedDict):
    """What a `Question` takes of it."""

    traceparent: str
    tracestate: str


def caller_trace() -> CallerTrace:
    """What the variables `TRACEPARENT` and `TRACESTATE` say, as tools that trace command lines set them."""
    return {"traceparent": os.environ.get("TRACEPARENT", ""), "tracestate": os.environ.get("TRACESTATE", "")}

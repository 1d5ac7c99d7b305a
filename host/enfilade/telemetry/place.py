"""In which run something happens: what log records say of it, and what outgoing requests take along."""

import re
from collections.abc import AsyncGenerator, Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

HEADERS = ("traceparent", "tracestate")
"""The names under which a trace travels (W3C Trace Context)."""

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(slots=True)
class Life:
    """Whether a run is over. What was begun in its course and outlives it, such as a plugin's process, is not its."""

    over: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a run.

    Attributes:
        run_id: The run's id.
        plugin: The plugin whose strategy runs.
        life: Whether the run is over; the same for all its places.
        traceparent: The span that is under way, in the form of W3C Trace Context; empty where nothing is traced.
        tracestate: What the caller's tracing system adds to it.
        propagate: Whether requests to others take it along.
    """

    run_id: str = ""
    plugin: str = ""
    life: Life = field(default_factory=Life)
    traceparent: str = ""
    tracestate: str = ""
    propagate: bool = False


_here: ContextVar[Place | None] = ContextVar("enfilade.place", default=None)


def here() -> Place | None:
    """Where the caller is; None outside of any run, and where nobody asks for it."""
    place = _here.get()
    return None if place is None or place.life.over else place


def outgoing() -> dict[str, str]:
    """Headers (and `_meta` of MCP) for a request that is made now: the trace it belongs to, or nothing."""
    place = here()
    if place is None or not place.propagate or not place.traceparent:
        return {}
    given = {"traceparent": place.traceparent, "tracestate": place.tracestate}
    return {name: value for name, value in given.items() if value}


class Scope(Protocol):
    """What is so during a step and no longer; entered and left in the same task."""

    def enter(self) -> Any:
        """Makes it so; gives what `leave` wants."""
        ...

    def leave(self, token: Any) -> None:
        """Takes it back."""
        ...


class InPlace:
    """The scope of being in a place."""

    __slots__ = ("_place",)

    def __init__(self, place: Place) -> None:
        self._place = place

    def enter(self) -> Token[Place | None]:
        """Goes there."""
        return _here.set(self._place)

    def leave(self, token: Token[Place | None]) -> None:
        """Goes back."""
        _here.reset(token)


async def within(scope: Scope, opened: Callable[[], AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    """A stream whose every step is taken within a scope, and no step of whoever reads it.

    An async generator has the context of whoever reads it, so a place that it entered for good would be the reader's
    too, and that of all other streams that the reader reads meanwhile.

    Args:
        scope: What is so during a step.
        opened: Opens the stream; it is called within the scope too. The stream is closed with this one.
    """
    token = scope.enter()
    try:
        stream = opened()
    finally:
        scope.leave(token)
    try:
        while True:
            token = scope.enter()
            try:
                item = await anext(stream)
            except StopAsyncIteration:
                return
            finally:
                scope.leave(token)
            yield item
    finally:
        await stream.aclose()


def valid_traceparent(text: str) -> str:
    """The text, if it is a `traceparent` of W3C Trace Context; else nothing, as that standard has it."""
    return text if _TRACEPARENT.fullmatch(text) else ""

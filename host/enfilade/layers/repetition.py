"""Notices a model that makes the same tool call again and again."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass as checked

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, NextToolCall, ToolStream
from enfilade.layers.sameness import key_of
from enfilade_sdk.errors import LimitExceededError
from enfilade_sdk.prompts import ToolRequest, ToolResult


@dataclass(slots=True)
class _Series:
    """The calls of one tool with the same arguments that came to the same result."""

    calls: int = 0
    result: tuple[str, bool] | None = None


@dataclass(slots=True)
class _Seen:
    series: dict[tuple[str, str | bytes], _Series] = field(default_factory=dict)


@checked(config=ConfigDict(extra="forbid"), kw_only=True, eq=False)
class Repetition(Layer):
    """Tells a model that repeats itself, and then stops the run.

    Calls are counted by tool and arguments for as long as they come to the same result; a result that differs begins
    the count anew, so that a tool can be asked whether something has changed.

    Attributes:
        tell_after: So many equal calls are made; each further one is not made, and the model is told so instead.
        stop_after: With so many equal calls, the untold ones included, the run goes on; with one more it ends.
        exempt: Patterns of tool names (`*` and `?`) that may be called as often as the model likes.
    """

    tell_after: Annotated[int, Field(ge=1)] = 3
    stop_after: Annotated[int, Field(ge=1)] = 6
    exempt: tuple[str, ...] = ()

    name = "repetition"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.stop_after <= self.tell_after:
            raise ValueError(f"stop_after ({self.stop_after}) must be above tell_after ({self.tell_after})")
        return self

    def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        """Makes the call, or tells the model that it made it often enough."""
        if any(fnmatchcase(request.name, pattern) for pattern in self.exempt):
            return call_next(request)
        series = context.state(_Seen).series.setdefault(key_of(request), _Series())
        series.calls += 1
        if series.calls > self.stop_after:
            raise self._stopped(context, request)
        return _told(request, series.calls) if series.calls > self.tell_after else _watched(series, call_next(request))

    def _stopped(self, context: RunContext, request: ToolRequest) -> LimitExceededError:
        error = LimitExceededError(
            f"the tool {request.name!r} was asked for {self.stop_after + 1} times with the same arguments, and the "
            f"limit is stop_after = {self.stop_after}: the model goes in circles (see the layer 'repetition')",
            details={"limit": "stop_after", "value": self.stop_after, "tool": request.name},
        )
        context.interrupt(error)
        return error


async def _watched(series: _Series, answers: ToolStream) -> ToolStream:
    async for answer in answers:
        if isinstance(answer, ToolResult):
            result = (answer.text, answer.is_error)
            if series.result is not None and result != series.result:
                series.calls = 1
            series.result = result
        yield answer


async def _told(request: ToolRequest, calls: int) -> ToolStream:
    yield ToolResult(
        f"this call was not made: {request.name} has been asked for {calls} times with exactly these arguments, with "
        "the same result each time. Use the result you have, change the arguments, or go another way; say so if you "
        "cannot.",
        is_error=True,
        details={"code": "limit_exceeded", "repeated": calls},
    )

"""A model that says what a script holds, and remembers what it was asked."""

import asyncio
import json
from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

from enfilade_sdk.errors import EnfiladeError, ModelFailedError
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import AssistantMessage, ModelChunk, ModelRequest, ModelResult, ToolCall, ToolCallDelta
from enfilade_sdk.testing.turn import CallOf, Script, Turn, chunks_of, turn_of

INFO = ModelInfo(name="scripted", provider="testing")
"""What a scripted model says of itself unless told otherwise."""


class ScriptedModel:
    """Plays one turn to a request, in order.

    Args:
        script: The turns: texts, lists of texts (chunks), `CallOf`s, `Turn`s, errors, or functions of the request.
        repeat_last: Whether the last turn is played again for ever.
        info: What the model can do, as the strategy sees it.

    Attributes:
        requests: Every request, in order of arrival.
        overrun: How many requests found no turn left.
    """

    def __init__(self, *script: Any, repeat_last: bool = False, info: ModelInfo = INFO) -> None:
        self._script: Script = script
        self._repeat_last = repeat_last
        self._ids = count(1)
        self.info = info
        self.requests: list[ModelRequest] = []
        self.overrun = 0

    @property
    def left(self) -> int:
        """How many turns have not been played."""
        return max(0, len(self._script) - len(self.requests))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Plays the next turn: its chunks, then its result.

        Raises:
            EnfiladeError: The turn is a failure (any other exception becomes a `ModelFailedError`, as in the host),
                or no turn is left.
        """
        self.requests.append(request)
        turn = self._next(request)
        calls = self._calls(turn)
        for chunk in _chunks(turn, calls):
            yield chunk
        if turn.hangs:
            await asyncio.Event().wait()
        if turn.error is not None:
            raise _failure(turn.error)
        yield _result(turn, calls, self.info.name)

    def _next(self, request: ModelRequest) -> Turn:
        place = len(self.requests) - 1
        if place >= len(self._script):
            if not (self._script and self._repeat_last):
                self.overrun += 1
                raise ModelFailedError(
                    f"the script has {len(self._script)} turns and this is request {place + 1}; "
                    "add a turn or set repeat_last"
                )
            place = -1
        line = self._script[place]
        return turn_of(line(request) if callable(line) else line)

    def _calls(self, turn: Turn) -> tuple[ToolCall, ...]:
        return tuple(_call(call, call.id or f"call_{next(self._ids)}") for call in turn.calls)


def _failure(error: Exception) -> EnfiladeError:
    if isinstance(error, EnfiladeError):
        return error
    return ModelFailedError(f"the model failed: {type(error).__name__}: {error}")


def _call(call: CallOf, call_id: str) -> ToolCall:
    """A complete call as the host hands it over: arguments that are no object come with what is wrong with them."""
    try:
        parsed = json.loads(call.text or "{}")
    except ValueError as error:
        return ToolCall(id=call_id, name=call.name, error=f"the arguments are not valid JSON: {error}")
    if not isinstance(parsed, dict):
        return ToolCall(id=call_id, name=call.name, error=f"the arguments must be a JSON object, got: {call.text}")
    return ToolCall(id=call_id, name=call.name, arguments=call.text or "{}", parsed=parsed)


def _chunks(turn: Turn, calls: tuple[ToolCall, ...]) -> list[ModelChunk]:
    deltas = [
        ToolCallDelta(index=index, id=call.id, name=call.name, arguments=written.text)
        for index, (call, written) in enumerate(zip(calls, turn.calls, strict=True))
    ]
    return [
        *(ModelChunk(reasoning=part) for part in chunks_of(turn.reasoning)),
        *(ModelChunk(text=part) for part in chunks_of(turn.text)),
        *(ModelChunk(tool_calls=(delta,)) for delta in deltas),
    ]


def _result(turn: Turn, calls: tuple[ToolCall, ...], model: str) -> ModelResult:
    message = AssistantMessage(
        content="".join(chunks_of(turn.text)) or None,
        tool_calls=calls,
        reasoning="".join(chunks_of(turn.reasoning)) or None,
    )
    finish_reason = turn.finish_reason or ("tool_calls" if calls else "stop")
    return ModelResult(message, finish_reason=finish_reason, usage=turn.usage, model=model)

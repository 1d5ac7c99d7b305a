"""Lets chosen tool calls wait until somebody allows them."""

import asyncio
import logging
import time
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any
from uuid import uuid4

import orjson
from pydantic import ConfigDict, Field, SkipValidation
from pydantic.dataclasses import dataclass

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, NextToolCall, ToolStream
from enfilade.layers.petition import Ask, AskRecord
from enfilade.petition import Decision, Petition
from enfilade.store.masking import secrets_of
from enfilade_sdk.errors import ErrorCode
from enfilade_sdk.prompts import ToolRequest, ToolResult

_log = logging.getLogger(__name__)


@dataclass(config=ConfigDict(extra="forbid", arbitrary_types_allowed=True), kw_only=True, eq=False)
class Approval(Layer):
    """Asks before chosen tools are called. No answer in time is a no, and the model is told of a no.

    Attributes:
        tools: Patterns of the names of the tools to ask about (`*` and `?`), as the model calls them.
        ask: Puts the question to somebody: a function of yours, a `Terminal`, an `AskRecord`. It may give a plain bool.
        timeout: Seconds to wait for the answer.
    """

    tools: Annotated[tuple[str, ...], Field(min_length=1)]
    ask: SkipValidation[Ask]
    timeout: Annotated[float, Field(gt=0)] = 300.0

    name = "approval"

    def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        """Makes the call when it is allowed, with other arguments where the answer has some."""
        if any(fnmatchcase(request.name, pattern) for pattern in self.tools):
            return self._asked(context, request, call_next)
        return call_next(request)

    async def _asked(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        # What is shown is what is called: text that is read in two ways must not be shown in one and run in the other.
        arguments = _read(request.arguments)
        decision = await self._decision(_petition(context, request, arguments, self.timeout))
        word = "allowed" if decision.allowed else "refused"
        _log.info("run %s: the call of %s was %s", context.run_id, request.name, word)
        if not decision.allowed:
            yield _refused(request, decision)
            return
        changed = decision.arguments
        final = ToolRequest(request.name, arguments if changed is None else dict(changed), request.call_id)
        async for answer in call_next(final):
            yield answer if changed is None or not isinstance(answer, ToolResult) else _with_note(answer, final)

    async def _decision(self, petition: Petition) -> Decision:
        try:
            async with asyncio.timeout(None if isinstance(self.ask, AskRecord) else self.timeout):
                answer = await self.ask(petition)
        except TimeoutError:
            return Decision(allowed=False, reason=f"nobody answered within {self.timeout:g} seconds")
        if isinstance(answer, bool):
            return Decision(allowed=answer)
        if not isinstance(answer, Decision):
            raise TypeError(f"the answer to a petition is a Decision or a bool, got a {type(answer).__name__}")
        return answer


def _petition(
    context: RunContext, request: ToolRequest, arguments: Mapping[str, Any] | str, timeout: float
) -> Petition:
    now = time.time()
    return Petition(
        id=uuid4().hex,
        run_id=context.run_id,
        user=context.user,
        plugin=context.plugin,
        strategy=context.strategy,
        conversation=context.conversation,
        tool=request.name,
        call_id=request.call_id,
        arguments=arguments,
        asked_at=now,
        expires_at=now + timeout,
        secrets=secrets_of(context.invocation.params, context.parameters),
    )


def _read(arguments: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
    """Arguments as an object where they are one; text that is no JSON object stays text, and is called as such."""
    if not isinstance(arguments, str):
        return dict(arguments)
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments
    return value if isinstance(value, dict) else arguments


def _refused(request: ToolRequest, decision: Decision) -> ToolResult:
    why = f": {decision.reason}" if decision.reason else ""
    return ToolResult(
        f"the call of {request.name} was not allowed{why}. It was not made; do not try to reach the same in another "
        "way, and tell the user what you could not do.",
        is_error=True,
        details={"code": ErrorCode.TOOL_FAILED.value, "approval": "refused"},
    )


def _with_note(result: ToolResult, request: ToolRequest) -> ToolResult:
    """The model has to know that its call is not the one that was made."""
    arguments = orjson.dumps(request.arguments, default=str).decode()
    note = f"(the call was allowed with other arguments: {arguments})\n"
    return ToolResult(note + result.text, result.is_error, result.seconds, {**result.details, "approval": "changed"})

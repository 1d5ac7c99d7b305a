"""What the built-in loops share: the fuse, the tool calls of a round, its logs."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from enfilade_sdk.errors import AgentMaxIterationError, EnfiladeError, InvalidParamsError
from enfilade_sdk.messages import MessageType, ToolInvokeMessage, finish_log, log_message
from enfilade_sdk.prompts import ModelResult, ToolCall, ToolMessage, ToolResult
from enfilade_sdk.session import Session

MAX_ITERATIONS = 99
"""The most rounds with tools that a run may ask for."""

FOR_THE_MODEL = frozenset({MessageType.TEXT, MessageType.JSON})
"""Tool messages that are the model's result and not shown to the user by the built-in loops."""


@dataclass(frozen=True, slots=True)
class Round:
    """One pass of the loop; in the `last` one no tool may be called."""

    number: int
    last: bool


def rounds_of(max_iteration: Any) -> Iterator[Round]:
    """The fuse: `max_iteration` rounds in which tools may be called, and one to answer.

    Raises:
        InvalidParamsError: The number is negative, above `MAX_ITERATIONS`, or not whole.
    """
    if (
        isinstance(max_iteration, bool)
        or not isinstance(max_iteration, int)
        or not 0 <= max_iteration <= MAX_ITERATIONS
    ):
        raise InvalidParamsError(
            f"max_iteration: expected a whole number from 0 to {MAX_ITERATIONS}, got {max_iteration!r}"
        )
    return (Round(number, last=number == max_iteration + 1) for number in range(1, max_iteration + 2))


def limit_reached(max_iteration: int) -> AgentMaxIterationError:
    """The error of a run whose model asks for a tool when no round is left."""
    return AgentMaxIterationError(
        f"the agent reached its limit of {max_iteration} rounds with tools and the model still asked for a tool; "
        "raise max_iteration, or set on_limit to 'answer' or 'partial'",
        details={"max_iteration": max_iteration},
    )


def round_log(round_: Round) -> ToolInvokeMessage:
    """Opens the log of a round."""
    return log_message(f"ROUND {round_.number}", metadata={"kind": "round", "round": round_.number})


def thought_log(session: Session, parent: ToolInvokeMessage) -> ToolInvokeMessage:
    """Opens the log of a round's model call."""
    info = session.model.info
    metadata = {"kind": "model", "provider": info.provider, "model": info.name}
    return log_message(f"{info.name or 'model'} thought", parent=parent, metadata=metadata)


def close_thought(log: ToolInvokeMessage, result: ModelResult) -> ToolInvokeMessage:
    """Closes the log of a model call with what it said, its tokens and seconds."""
    message = result.message
    data = {
        "output": message.content or "",
        "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls],
    }
    if message.reasoning:
        data["reasoning"] = message.reasoning
    usage = result.usage.model_dump(exclude_none=True)
    metadata = {"seconds": round(result.seconds, 6), "finish_reason": result.finish_reason, "usage": usage}
    return finish_log(log, data=data, metadata=metadata)


@dataclass(slots=True)
class ToolRound:
    """All calls of one round, at once, each with its log; their results stay in call order.

    Attributes:
        results: One tool message per call, in call order, once `run` has ended.
    """

    session: Session
    calls: Sequence[ToolCall]
    parent: ToolInvokeMessage
    parallel: int = 8
    results: list[ToolMessage] = field(default_factory=list)

    async def run(self) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Makes the calls and gives their logs and the messages meant for the user, as they come."""
        line: asyncio.Queue[ToolInvokeMessage | None] = asyncio.Queue(maxsize=64)
        slots = asyncio.Semaphore(max(1, self.parallel))
        tasks = [asyncio.ensure_future(self._call(call, line, slots)) for call in self.calls]
        running = len(tasks)
        try:
            while running:
                message = await line.get()
                if message is None:
                    running -= 1
                else:
                    yield message
            self.results = [await task for task in tasks]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(
        self, call: ToolCall, line: "asyncio.Queue[ToolInvokeMessage | None]", slots: asyncio.Semaphore
    ) -> ToolMessage:
        async with slots:
            log = log_message(f"CALL {call.name}", parent=self.parent, metadata={"kind": "tool", "call_id": call.id})
            await line.put(log)
            started = monotonic()
            try:
                result = await self._result(call, line)
            except EnfiladeError as error:
                result = ToolResult(text=error.message, is_error=True, details={"code": error.code.value})
            await line.put(_close_call(log, call, result, result.seconds or monotonic() - started))
        await line.put(None)
        return ToolMessage(tool_call_id=call.id, content=result.text, name=call.name, is_error=result.is_error)

    async def _result(self, call: ToolCall, line: "asyncio.Queue[ToolInvokeMessage | None]") -> ToolResult:
        if call.error is not None:
            return ToolResult(text=call.error, is_error=True, details={"code": "invalid_params"})
        arguments = call.arguments if call.parsed is None else call.parsed
        async with aclosing(self.session.tools.invoke(call.name, arguments, call_id=call.id)) as running:
            async for message in running:
                if message.type not in FOR_THE_MODEL:
                    await line.put(message)
            return await running


def _close_call(log: ToolInvokeMessage, call: ToolCall, result: ToolResult, seconds: float) -> ToolInvokeMessage:
    arguments = result.details.get("arguments", call.parsed if call.parsed is not None else call.arguments)
    metadata: dict[str, Any] = {"seconds": round(seconds, 6), "provider": result.details.get("provider", "")}
    if call.repaired:
        metadata["repaired"] = True
    data = {"tool": call.name, "arguments": arguments, "output": result.text}
    return finish_log(log, data=data, error=result.text if result.is_error else None, metadata=metadata)

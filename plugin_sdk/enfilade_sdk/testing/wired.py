"""A run whose every value crosses the wire's form, without a process or a socket.

What a strategy gives and gets is then what it is in a process of its own: JSON values, copies, nothing that only this
interpreter knows.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.execution import execute
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, StorageRequest, ToolRequest, ToolResult
from enfilade_sdk.testing.scripted_hatch import ScriptedHatch

_ITEM_BYTES = 8 * 1024 * 1024


async def execute_wired(
    strategy: Any, invocation: Invocation, hatch: ScriptedHatch
) -> AsyncGenerator[ToolInvokeMessage, None]:
    """`execute` with the start, the messages, the calls, their answers and the end each taken over the wire's form.

    Raises:
        EnfiladeError: What the host would make of the strategy's failure.
    """
    start = codec.start_from_wire(codec.start_to_wire(invocation, _ITEM_BYTES))
    async with aclosing(execute(strategy, start, WiredHatch(hatch))) as messages:
        try:
            async for message in messages:
                yield codec.message_from_wire(codec.message_to_wire(message))
        except EnfiladeError as error:
            raise codec.run_failure_from_wire(codec.run_failure_to_wire(error)) from error


class WiredHatch:
    """Takes every call and every answer of another hatch over the wire's form."""

    def __init__(self, hatch: ScriptedHatch) -> None:
        self._hatch = hatch

    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """A model call."""
        crossed = codec.model_request_from_wire(codec.model_request_to_wire(1, request, 0))
        try:
            async with aclosing(self._hatch.model(crossed)) as answers:
                async for answer in answers:
                    if isinstance(answer, ModelResult):
                        yield codec.result_from_wire(codec.result_to_wire(1, answer))
                    else:
                        yield codec.chunk_from_wire(codec.chunk_to_wire(1, answer))
        except EnfiladeError as error:
            raise _crossed(error) from None

    async def tool(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        """A tool call."""
        crossed = codec.tool_request_from_wire(codec.tool_request_to_wire(1, request, 0))
        try:
            async with aclosing(self._hatch.tool(crossed)) as answers:
                async for answer in answers:
                    if isinstance(answer, ToolResult):
                        yield codec.tool_result_from_wire(codec.tool_result_to_wire(1, answer))
                    else:
                        yield codec.message_from_wire(codec.message_to_wire(answer))
        except EnfiladeError as error:
            raise _crossed(error) from None

    async def storage(self, request: StorageRequest) -> Any:
        """A use of the small storage."""
        crossed = codec.storage_request_from_wire(codec.storage_request_to_wire(1, request))
        try:
            return await self._hatch.storage(crossed)
        except EnfiladeError as error:
            raise _crossed(error) from None


def _crossed(error: EnfiladeError) -> EnfiladeError:
    return codec.failure_from_wire(codec.failure_to_wire(1, error))

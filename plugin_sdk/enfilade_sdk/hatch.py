"""The one hatch through which a run's calls go back to the host."""

from collections.abc import AsyncGenerator
from typing import Any, Protocol

from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, StorageRequest, ToolRequest, ToolResult


class Hatch(Protocol):
    """Answers the calls of one run.

    In the host it is the room that checks grants; in a guest it is the open stream; in a test it is a script.
    A stream ends with exactly one result. Failures are raised as `EnfiladeError`; closing a stream cancels the call.
    """

    def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Streams the chunks of a model call and, last, its result."""
        ...

    def tool(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        """Streams the messages of a tool call and, last, its result."""
        ...

    async def storage(self, request: StorageRequest) -> Any:
        """Gets, sets or deletes a value; `get` gives None where nothing is stored."""
        ...

"""A hatch for strategies on trial: it counts what is open and shows how far a call was taken."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from enfilade_sdk.errors import ModelFailedError, ToolNotFoundError
from enfilade_sdk.messages import ToolInvokeMessage, text_message
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    StorageRequest,
    ToolRequest,
    ToolResult,
    Usage,
)

ModelScript = Callable[[ModelRequest], AsyncGenerator[ModelChunk | ModelResult, None]]
ToolScript = Callable[[ToolRequest], AsyncGenerator[ToolInvokeMessage | ToolResult, None]]


class TrialHatch:
    """Answers by scripts, one for models and one for each tool.

    Attributes:
        open: Calls under way.
        ended: Calls that ended or were given up.
        opened: Set when a call is under way.
        requests: Every model and tool request.
    """

    def __init__(self, model: ModelScript | None = None, **tools: ToolScript) -> None:
        self._model = model
        self._tools = tools
        self.stored: dict[str, Any] = {}
        self.open = 0
        self.ended = 0
        self.opened = asyncio.Event()
        self.requests: list[ModelRequest | ToolRequest] = []

    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        if self._model is None or request.model == "forbidden":
            raise ModelFailedError("this run was not granted that model")
        async for answer in self._counted(self._model(request), request):
            yield answer

    async def tool(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        if request.name not in self._tools:
            raise ToolNotFoundError(f"there is not a tool named {request.name}")
        async for answer in self._counted(self._tools[request.name](request), request):
            yield answer

    async def storage(self, request: StorageRequest) -> Any:
        if request.key == "hang":
            self.opened.set()
            await asyncio.Event().wait()
        if request.verb == "set":
            self.stored[request.key] = request.value
        elif request.verb == "delete":
            self.stored.pop(request.key, None)
        return self.stored.get(request.key) if request.verb == "get" else None

    async def _counted(self, answers: AsyncGenerator[Any, None], request: Any) -> AsyncGenerator[Any, None]:
        self.requests.append(request)
        self.open += 1
        self.opened.set()
        try:
            async for answer in answers:
                yield answer
        finally:
            self.open -= 1
            self.ended += 1
            await answers.aclose()


class Chunks:
    """A model that gives so many chunks, and a result with the first thousand characters; `sent` counts them."""

    def __init__(self, number: int, text: str = "word ", usage: Usage | None = None) -> None:
        self._number = number
        self._text = text
        self._usage = usage or Usage()
        self.sent = 0

    async def __call__(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        for _ in range(self._number):
            self.sent += 1
            yield ModelChunk(self._text)
        message = AssistantMessage(content=(self._text * self._number)[:1000])
        yield ModelResult(message, finish_reason="stop", usage=self._usage, model="m")


async def hang(_: Any) -> AsyncGenerator[Any, None]:
    """A model or tool that never answers."""
    await asyncio.Event().wait()
    yield None


def says(text: str, *messages: str) -> ToolScript:
    """A tool with messages for the user and a result."""

    async def tool(_: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        for message in messages:
            yield text_message(message)
        yield ToolResult(text)

    return tool

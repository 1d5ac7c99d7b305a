"""A layer that passes everything on."""

from collections.abc import AsyncGenerator

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, NextModelCall, NextRun, NextToolCall
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, ToolRequest, ToolResult


class Through(Layer):
    """Passes everything on, and notes the order of things."""

    def __init__(self, name: str = "", notes: list[str] | None = None) -> None:
        self.name = name
        self.notes = notes if notes is not None else []

    async def run(self, context: RunContext, call_next: NextRun) -> AsyncGenerator[ToolInvokeMessage, None]:
        self.notes.append(f"{self.name} before")
        async for message in call_next():
            yield message
        self.notes.append(f"{self.name} after")

    async def model_call(
        self, context: RunContext, request: ModelRequest, call_next: NextModelCall
    ) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        async for item in call_next(request):
            yield item

    async def tool_call(
        self, context: RunContext, request: ToolRequest, call_next: NextToolCall
    ) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        async for item in call_next(request):
            yield item

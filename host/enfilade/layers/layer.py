"""What a layer is: three streams that it may stand around, and a word at the end."""

from collections.abc import AsyncGenerator, Callable
from typing import Literal

from enfilade.layers.context import RunContext
from enfilade.outcome import Outcome
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, ToolRequest, ToolResult

Mode = Literal["guarding", "observing"]

MessageStream = AsyncGenerator[ToolInvokeMessage, None]
ModelStream = AsyncGenerator[ModelChunk | ModelResult, None]
ToolStream = AsyncGenerator[ToolInvokeMessage | ToolResult, None]

NextRun = Callable[[], MessageStream]
NextModelCall = Callable[[ModelRequest], ModelStream]
NextToolCall = Callable[[ToolRequest], ToolStream]


class Layer:
    """Stands around runs, model calls and tool calls. Override what you need; what you leave alone costs nothing.

    Each of the three is an async generator that is given what comes next: pass its items on, change them, leave them
    away, ask again, answer yourself, or raise. What `call_next` gave is closed for you when the stream ends, however it
    ends. A model call and a tool call end with exactly one result.

    One layer serves every run of its host, many at once: what belongs to a run is kept in `context.state(...)`.

    An `EnfiladeError` that a model call or a tool call raises goes to the strategy, which may go on without; raised by
    a run's stream it ends the run, as `context.interrupt` does from anywhere. Any other exception is a fault of the
    layer.

    Attributes:
        name: What it is called in messages; empty is the class's name.
        mode: A fault of a `guarding` layer fails the run. An `observing` one cannot change or end a run: what it gives
            is compared with what it was given, and at the first fault, which is logged, it is left out of that stream.
    """

    name: str = ""
    mode: Mode = "guarding"

    def run(self, context: RunContext, call_next: NextRun) -> MessageStream:  # noqa: ARG002 - for those that look at it
        """Stands around a run, from its start to its last message."""
        return call_next()

    def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:  # noqa: ARG002
        """Stands around one model call that a strategy was granted."""
        return call_next(request)

    def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:  # noqa: ARG002
        """Stands around one tool call that a strategy was granted."""
        return call_next(request)

    async def ended(self, context: RunContext, outcome: Outcome) -> None:
        """Is told once what a run came to, after everything of it has been let go. A fault here is only logged."""


def name_of(layer: Layer) -> str:
    """What a layer is called in messages."""
    return layer.name or type(layer).__name__

"""Lets log records say in which run they were made."""

from enfilade.layers.context import RunContext
from enfilade.layers.layer import (
    Layer,
    MessageStream,
    ModelStream,
    NextModelCall,
    NextRun,
    NextToolCall,
    ToolStream,
)
from enfilade.outcome import Outcome
from enfilade.telemetry.place import InPlace, Life, Place, within
from enfilade_sdk.prompts import ModelRequest, ToolRequest


class Marks(Layer):
    """Marks everything that happens in a run with the run's id and plugin, for `enfilade.telemetry.log_lines`."""

    name = "marks"
    mode = "observing"

    def run(self, context: RunContext, call_next: NextRun) -> MessageStream:
        """Marks the run."""
        return within(_of(context), call_next)

    def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        """Marks a model call."""
        return within(_of(context), lambda: call_next(request))

    def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        """Marks a tool call."""
        return within(_of(context), lambda: call_next(request))

    async def ended(self, context: RunContext, outcome: Outcome) -> None:  # noqa: ARG002 - however it ended
        """From here on nothing is of that run."""
        context.state(Life).over = True


def _of(context: RunContext) -> InPlace:
    return InPlace(Place(context.run_id, context.plugin, context.state(Life)))

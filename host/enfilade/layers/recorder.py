"""What the recording layer writes to. `enfilade.store.records.Records` is one."""

from decimal import Decimal
from typing import Protocol

from enfilade.outcome import OutcomeFile, Status
from enfilade.store.start import RunStart
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelRequest, ModelResult, ToolRequest, ToolResult


class ModelCallRecorder(Protocol):
    """Takes down how one model call ends; neither member waits or raises."""

    def ended(self, result: ModelResult, *, cost: Decimal | None = None) -> None:
        """It has a result, and cost so many US dollars; None is not known."""
        ...

    def failed(self, error: BaseException, *, text: str = "", reasoning: str = "") -> None:
        """It failed or was given up, after the model had said this much."""
        ...


class ToolCallRecorder(Protocol):
    """Takes down how one tool call ends; neither member waits or raises."""

    def ended(self, result: ToolResult) -> None:
        """It has a result, which may be the tool's failure."""
        ...

    def failed(self, error: BaseException) -> None:
        """It was refused, broke, or was given up."""
        ...


class RunRecorder(Protocol):
    """Takes down one run as it happens. What is awaited may wait for the store, and fail when the run is to fail."""

    async def model_began(self, request: ModelRequest, *, model: str = "", provider: str = "") -> ModelCallRecorder:
        """A model is asked."""
        ...

    async def tool_began(self, request: ToolRequest) -> ToolCallRecorder:
        """A tool is called."""
        ...

    async def event(self, message: ToolInvokeMessage) -> None:
        """The run says something."""
        ...

    async def file(self, file: OutcomeFile) -> None:
        """The run has brought a file."""
        ...

    async def settled(self) -> None:
        """Before a run is called a success: makes sure of what was written, where the run is to fail without."""
        ...

    def ended(self, status: Status, *, answer: str = "", error: EnfiladeError | None = None) -> None:
        """It has ended. Neither waits nor raises."""
        ...


class Recorder(Protocol):
    """Takes down runs."""

    async def run_began(self, start: RunStart) -> RunRecorder:
        """A run begins."""
        ...

"""Writes down what happens in a run, as it happens."""

from dataclasses import dataclass

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
from enfilade.layers.recorder import Recorder, RunRecorder
from enfilade.outcome import Outcome, Status
from enfilade.store.masking import masked_params, secrets_of
from enfilade.store.start import RunStart
from enfilade_sdk.errors import EnfiladeError, InternalError
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ToolRequest, ToolResult


@dataclass(slots=True)
class _Place:
    """Where a run's recorder is, from its beginning on."""

    recorder: RunRecorder | None = None


class Recording(Layer):
    """Tells a recorder of each run, model call, tool call, message and file, in order.

    Put it first, so that it sees what the strategy sees: refused calls too. A recorder that cannot write and says so
    ends the run; one that buffers does not.

    Args:
        recorder: What writes it down.
    """

    name = "recording"

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def run(self, context: RunContext, call_next: NextRun) -> MessageStream:
        """Records the run and its messages."""
        recorder = await self._recorder.run_began(_start(context))
        context.state(_Place).recorder = recorder
        async for message in call_next():
            await recorder.event(message)
            yield message
        await recorder.settled()

    async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        """Records a model call."""
        recorder = _recorder_of(context)
        try:
            entry = await recorder.model_began(request, model=context.model.name, provider=context.model.provider)
        except EnfiladeError as error:
            context.interrupt(error)
            raise
        said: list[ModelChunk] = []
        ended = False
        try:
            async for answer in call_next(request):
                if isinstance(answer, ModelChunk):
                    said.append(answer)
                else:
                    ended, pricing = True, context.ledger.pricing
                    entry.ended(answer, cost=None if pricing is None else pricing(answer.usage))
                yield answer
        except BaseException as error:
            if ended:
                raise
            text, reasoning = ("".join(getattr(chunk, part) for chunk in said) for part in ("text", "reasoning"))
            entry.failed(error, text=text, reasoning=reasoning)
            raise

    async def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        """Records a tool call."""
        recorder = _recorder_of(context)
        try:
            entry = await recorder.tool_began(request)
        except EnfiladeError as error:
            context.interrupt(error)
            raise
        try:
            async for answer in call_next(request):
                if isinstance(answer, ToolResult):
                    entry.ended(answer)
                yield answer
        except BaseException as error:
            entry.failed(error)
            raise

    async def failed_to_begin(self, start: RunStart, error: EnfiladeError) -> None:
        """Records a run that failed before its strategy began: its model is not known, its plugin does not start.

        Raises:
            StoreError: The store cannot be written, and runs are to fail then.
        """
        (await self._recorder.run_began(start)).ended(Status.FAILED, error=error)

    async def ended(self, context: RunContext, outcome: Outcome) -> None:
        """Records the files, and how the run ended."""
        recorder = context.state(_Place).recorder
        if recorder is None:
            return
        try:
            for file in outcome.files:
                await recorder.file(file)
        finally:
            recorder.ended(outcome.status, answer=outcome.answer, error=outcome.error)


def _recorder_of(context: RunContext) -> RunRecorder:
    recorder = context.state(_Place).recorder
    if recorder is None:
        raise InternalError("a call came before its run was recorded")
    return recorder


def _start(context: RunContext) -> RunStart:
    question, params = context.question, context.invocation.params
    return RunStart(
        run_id=context.run_id,
        strategy=context.strategy,
        question=question.text,
        plugin=context.plugin,
        model=context.model.name,
        provider=context.model.provider,
        user_id=context.user,
        conversation_id=context.conversation,
        app_id=question.app_id,
        message_id=question.message_id,
        params=masked_params(params, context.parameters),
        files=question.files,
        history=question.history,
        secrets=secrets_of(params, context.parameters),
    )

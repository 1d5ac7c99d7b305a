"""Tells OpenTelemetry of runs and their calls: spans, metrics, and what they belong to."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enfilade.layers.attributes import known, model_of, request_of, type_of
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
from enfilade.outcome import Outcome, Status
from enfilade.store.masking import Masking, secrets_of
from enfilade.store.start import RunStart
from enfilade.telemetry import content, names
from enfilade.telemetry.instruments import Instruments
from enfilade.telemetry.place import Place, within
from enfilade.telemetry.tracing import Begun, Tracing
from enfilade_sdk.errors import EnfiladeError, ErrorCode
from enfilade_sdk.prompts import ModelRequest, ModelResult, ToolRequest, ToolResult

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider


@dataclass(slots=True)
class _Run:
    """What this layer knows of one run."""

    begun: Begun | None = None
    started: float = 0.0
    labels: dict[str, str] = field(default_factory=dict)
    of_model: dict[str, str | int] = field(default_factory=dict)
    masked: Callable[[str], str] = str
    ended: bool = False


@dataclass(slots=True)
class _Call:
    """One call under way: what was asked, and what is known of its end."""

    begun: Begun
    started: float
    asked: Mapping[str, Any]
    values: dict[str, Any] = field(default_factory=dict)
    tokens: dict[str, int | None] = field(default_factory=dict)
    has_result: bool = False
    error: str | None = None
    text: str = ""


class Telemetry(Layer):
    """Makes a span of each run, model call and tool call, and counts them.

    Put it first: then it sees what other layers refuse, and its spans last as long as the strategy waits.

    Args:
        content: Whether spans hold what was asked, answered and given to tools, and errors their whole text.
        propagate: Whether `traceparent` goes with requests to models, MCP servers and HTTP interfaces.
        tracer_provider: Where spans go; None is OpenTelemetry's global one.
        meter_provider: Where metrics go; None is OpenTelemetry's global one.
    """

    name = "telemetry"
    mode = "observing"

    def __init__(
        self,
        *,
        content: bool = False,
        propagate: bool = True,
        tracer_provider: "TracerProvider | None" = None,
        meter_provider: "MeterProvider | None" = None,
    ) -> None:
        self._content = content
        self._tracing = Tracing(tracer_provider, propagate=propagate)
        self._instruments = Instruments(meter_provider)

    async def run(self, context: RunContext, call_next: NextRun) -> MessageStream:
        """A span from the run's start to its end; `ended` ends it."""
        run = context.state(_Run)
        begun = self._begin(context, run)
        try:
            async for message in within(begun, call_next):
                yield message
        except EnfiladeError:
            raise
        except Exception as error:  # a fault of the host: nobody will tell of an end
            self._end(run, {}, Status.FAILED, type(error).__name__)
            raise

    async def ended(self, context: RunContext, outcome: Outcome) -> None:
        """Ends the run's span, with what the run came to."""
        run, usage = context.state(_Run), outcome.usage
        error = outcome.error
        attributes: dict[str, Any] = {names.ROUNDS: sum(1 for entry in outcome.rounds if entry.model)}
        attributes |= known({names.INPUT_TOKENS: usage.prompt_tokens, names.OUTPUT_TOKENS: usage.completion_tokens})
        if self._content:
            attributes[names.OUTPUT] = content.texts("assistant", outcome.answer, run.masked)
        code, text = (None, "") if error is None else (error.code.value, error.message)
        self._end(run, attributes, outcome.status, code, text)

    async def failed_to_begin(self, start: RunStart, error: EnfiladeError) -> None:
        """A span, without length, of a run that failed before its strategy began: its plugin does not start, ..."""
        attributes = {
            names.OPERATION: names.INVOKE_AGENT,
            names.AGENT: start.strategy,
            names.RUN: start.run_id,
            names.STATUS: Status.FAILED.value,
            **known({names.REQUEST_MODEL: start.model or None, names.CONVERSATION: start.conversation_id}),
        }
        name = f"{names.INVOKE_AGENT} {start.strategy}"
        begun = self._tracing.root(name, attributes, caller=start.trace, of=Place(start.run_id))
        begun.end({}, error=error.code.value, text=content.cut(error.message) if self._content else "")
        self._instruments.run_failed_to_begin(error.code.value)

    async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        """A span, and the duration and tokens of a model call."""
        run = context.state(_Run)
        self._begin(context, run)
        operation = names.COMPLETION if request.completion or context.settings.completion else names.CHAT
        call = self._call(run, f"{operation} {context.model.name}", self._asked(context, run, request, operation))
        with self._seen_through(call, run, self._count_model):
            async for answer in within(call.begun, lambda: call_next(request)):
                if isinstance(answer, ModelResult):
                    self._answered(run, call, answer)
                elif names.FIRST_CHUNK not in call.values:
                    call.values[names.FIRST_CHUNK] = time.perf_counter() - call.started
                yield answer

    async def tool_call(self, context: RunContext, request: ToolRequest, call_next: NextToolCall) -> ToolStream:
        """A span, and the duration of a tool call."""
        run = context.state(_Run)
        self._begin(context, run)
        attributes = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL: request.name,
            **known({names.TOOL_CALL: request.call_id or None, names.CONVERSATION: context.conversation}),
        }
        if self._content:
            attributes[names.TOOL_ARGUMENTS] = content.value(request.arguments, run.masked)
        call = self._call(run, f"{names.EXECUTE_TOOL} {request.name}", attributes, remote=False)
        with self._seen_through(call, run, self._count_tool):
            async for answer in within(call.begun, lambda: call_next(request)):
                if isinstance(answer, ToolResult):
                    self._done(run, call, answer)
                yield answer

    def _begin(self, context: RunContext, run: _Run) -> Begun:
        """The run's span, which begins with its first mention."""
        if run.begun is not None:
            return run.begun
        run.masked = Masking(secrets_of(context.invocation.params, context.parameters)).text
        run.labels = {names.AGENT: context.strategy, names.PLUGIN: context.plugin}
        run.of_model = model_of(context)
        attributes: dict[str, Any] = {
            names.OPERATION: names.INVOKE_AGENT,
            names.AGENT: context.strategy,
            names.PROVIDER: context.settings.provider,
            names.REQUEST_MODEL: context.model.name,
            names.RUN: context.run_id,
            names.PLUGIN: context.plugin,
            **known({names.CONVERSATION: context.conversation}),
        }
        if self._content:
            attributes[names.INPUT] = content.texts("user", context.question.text, run.masked)
        question = context.question
        caller = {"traceparent": question.traceparent, "tracestate": question.tracestate}
        run.begun = self._tracing.root(
            f"{names.INVOKE_AGENT} {context.strategy}",
            attributes,
            caller=caller,
            of=Place(context.run_id, context.plugin),
        )
        run.started = time.perf_counter()
        self._instruments.run_began(run.labels)
        return run.begun

    def _end(
        self,
        run: _Run,
        attributes: Mapping[str, Any],
        status: Status,
        error: str | None,
        text: str = "",
    ) -> None:
        if run.begun is None or run.ended:
            return
        run.ended = run.begun.place.life.over = True
        self._instruments.run_ended(run.labels, time.perf_counter() - run.started, status.value, error)
        shown = run.masked(content.cut(text)) if self._content else ""
        run.begun.end({**attributes, names.STATUS: status.value}, error=error, text=shown)

    def _asked(self, context: RunContext, run: _Run, request: ModelRequest, operation: str) -> dict[str, Any]:
        attributes = request_of(context, request, operation)
        if self._content:
            attributes |= known({names.SYSTEM: content.instructions(request.messages, run.masked) or None})
            attributes[names.INPUT] = content.conversation(request.messages, run.masked)
        return attributes

    def _answered(self, run: _Run, call: _Call, result: ModelResult) -> None:
        usage = result.usage
        call.has_result = True
        call.tokens = {"input": usage.prompt_tokens, "output": usage.completion_tokens}
        call.values |= known(
            {
                names.RESPONSE_MODEL: result.model or None,
                names.FINISH_REASONS: [result.finish_reason],
                names.INPUT_TOKENS: usage.prompt_tokens,
                names.OUTPUT_TOKENS: usage.completion_tokens,
                names.CACHED_TOKENS: usage.cached_tokens,
                names.REASONING_TOKENS: usage.reasoning_tokens,
            }
        )
        if self._content:
            call.values[names.OUTPUT] = content.reply(result, run.masked)

    def _done(self, run: _Run, call: _Call, result: ToolResult) -> None:
        call.has_result = True
        call.values[names.TOOL_TYPE] = type_of(str(result.details.get("provider", "")))
        if result.is_error:
            call.error = str(result.details.get("code", ErrorCode.TOOL_FAILED.value))
            call.text = result.text
        if self._content:
            call.values[names.TOOL_RESULT] = content.value(result.text, run.masked)

    def _call(self, run: _Run, name: str, attributes: dict[str, Any], *, remote: bool = True) -> _Call:
        assert run.begun is not None
        return _Call(self._tracing.call(name, attributes, run.begun, remote=remote), time.perf_counter(), attributes)

    @contextmanager
    def _seen_through(self, call: _Call, run: _Run, count: Callable[[_Call, _Run, float], None]) -> Iterator[None]:
        """Ends the call's span, however the call ends."""
        try:
            yield
        except (GeneratorExit, asyncio.CancelledError):
            if not call.has_result:
                call.values[names.GIVEN_UP] = True
            raise
        except Exception as error:
            call.error = error.code.value if isinstance(error, EnfiladeError) else type(error).__name__
            call.text = str(error)
            if isinstance(error, EnfiladeError) and isinstance(status := error.details.get("status"), int):
                call.values[names.HTTP_STATUS] = status
            raise
        finally:
            count(call, run, time.perf_counter() - call.started)
            shown = run.masked(content.cut(call.text)) if self._content else ""
            call.begun.end(call.values, error=call.error, text=shown)

    def _count_model(self, call: _Call, run: _Run, seconds: float) -> None:
        values = {names.OPERATION: call.asked[names.OPERATION], **run.of_model}
        answered_by = known({names.RESPONSE_MODEL: call.values.get(names.RESPONSE_MODEL)})
        self._instruments.model_called({**values, **answered_by}, seconds, call.tokens, call.error)

    def _count_tool(self, call: _Call, _run: _Run, seconds: float) -> None:
        self._instruments.tool_called({names.TOOL: call.asked[names.TOOL]}, seconds, call.error)

"""What a strategy may do during its run."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from typing import Any

from enfilade_sdk.call import Call
from enfilade_sdk.errors import LimitExceededError, ToolFailedError, ToolNotFoundError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import File, Invocation, ModelInfo
from enfilade_sdk.messages import LogStatus, ToolInvokeMessage, log_message
from enfilade_sdk.open_calls import OpenCalls
from enfilade_sdk.prompts import (
    ModelChunk,
    ModelRequest,
    ModelResult,
    PromptMessage,
    PromptTool,
    StorageRequest,
    ToolRequest,
    ToolResult,
    prompts_of,
)

LOG_LIMIT = 1000
"""Log messages that may wait for the strategy's next yield."""

ModelCall = Call[ModelChunk, ModelResult]
ToolCalling = Call[ToolInvokeMessage, ToolResult]


class Session:
    """One run's way to its model, tools, history, files, log and storage.

    The same object serves generator strategies (which run in a thread of their own and use the blocking forms)
    and async strategies (which run on the loop and use the awaitable ones).
    """

    def __init__(self, invocation: Invocation, hatch: Hatch, loop: asyncio.AbstractEventLoop) -> None:
        self.invocation = invocation
        self._open = OpenCalls(loop)
        self.model = SessionModel(invocation, hatch, self._open)
        self.tools = SessionTools(invocation, hatch, self._open)
        self.storage = SessionStorage(hatch, self._open)
        self._logs: list[ToolInvokeMessage] = []
        self._lock = threading.Lock()

    @property
    def history(self) -> tuple[PromptMessage, ...]:
        """Earlier turns of the conversation, oldest first."""
        return self.invocation.history

    @property
    def files(self) -> tuple[File, ...]:
        """Files that came with the question."""
        return self.invocation.files

    @property
    def traceparent(self) -> str:
        """The run's span in the form of W3C Trace Context, empty when nothing traces the run.

        For requests of a strategy's own. Spans that it makes with OpenTelemetry are children of it already.
        """
        return self.invocation.traceparent

    @property
    def cancelled(self) -> bool:
        """Whether the run was cancelled; a strategy that computes for long looks at it now and then."""
        return self._open.cancelled

    def log(
        self,
        label: str,
        *,
        data: Mapping[str, Any] | None = None,
        parent: ToolInvokeMessage | None = None,
        status: LogStatus = LogStatus.SUCCESS,
        metadata: Mapping[str, Any] | None = None,
    ) -> ToolInvokeMessage:
        """Writes a log message; it leaves before the strategy's next message, or at its end.

        Args:
            label: What is shown of it.
            data: What it holds; JSON values.
            parent: The log message that it stands under; None is the outermost.
            status: Where it stands; one that is START is to be finished (`finish_log`).
            metadata: Facts for whoever shows it, such as seconds or tokens.

        Raises:
            LimitExceededError: More than `LOG_LIMIT` wait; yield something first.
        """
        message = log_message(label, data=data, parent=parent, status=status, metadata=metadata)
        with self._lock:
            if len(self._logs) >= LOG_LIMIT:
                raise LimitExceededError(f"more than {LOG_LIMIT} logs wait; yield a message between them")
            self._logs.append(message)
        return message

    def take_logs(self) -> list[ToolInvokeMessage]:
        """Hands over the logs that wait (for whoever drives the strategy)."""
        if not self._logs:
            return []
        with self._lock:
            logs, self._logs = self._logs, []
        return logs

    def check_cancelled(self) -> None:
        """Leaves a strategy that computes for long, when its run was cancelled.

        Raises:
            RunCancelled: The run was cancelled.
        """
        self._open.check_cancelled()

    def cancel(self) -> None:
        """Ends every open call and refuses new ones (for whoever drives the strategy)."""
        self._open.cancel()

    async def close(self) -> None:
        """Gives up the calls that are still open and waits until they have let go (for whoever drives the strategy)."""
        await self._open.close()


class SessionModel:
    """The run's model."""

    def __init__(self, invocation: Invocation, hatch: Hatch, calls: OpenCalls) -> None:
        self._invocation = invocation
        self._hatch = hatch
        self._calls = calls

    @property
    def info(self) -> ModelInfo:
        """Its name and what it can do."""
        return self._invocation.model

    def invoke(
        self,
        messages: Sequence[PromptMessage | Mapping[str, Any]],
        *,
        tools: Sequence[PromptTool] | None = None,
        tool_choice: str | dict[str, Any] | None = None,
        stop: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        stream: bool = True,
        model: str | None = None,
        completion: bool = False,
    ) -> ModelCall:
        """Asks a model.

        Args:
            messages: The prompt, as prompt messages or dicts of the OpenAI chat form.
            tools: Tools the model may ask for; None or empty offers none.
            tool_choice: `auto`, `none`, `required`, or an object naming one tool.
            stop: Words at which the model is to stop; leave them out for a model that takes none.
            parameters: Sampling settings such as `temperature`.
            stream: Whether chunks are wanted.
            model: Another model than the run's own; it must have been granted.
            completion: Use the completions form: the messages are one text.

        Returns:
            A call: `ModelChunk`s and, as its result, a `ModelResult`.

        Raises:
            InvalidParamsError: The messages are not prompt messages.
            RunCancelled: The run was cancelled.
        """
        request = ModelRequest(
            messages=tuple(prompts_of(messages)),
            tools=tuple(tools or ()),
            tool_choice=tool_choice,
            stop=tuple(stop or ()),
            parameters=dict(parameters or {}),
            stream=stream,
            model=model,
            completion=completion,
        )
        return self._calls.track(self._hatch.model(request), ModelResult)


class SessionTools:
    """The run's tools."""

    def __init__(self, invocation: Invocation, hatch: Hatch, calls: OpenCalls) -> None:
        self._invocation = invocation
        self._hatch = hatch
        self._calls = calls

    def list(self) -> tuple[PromptTool, ...]:
        """The tools this run was given, as the model sees them."""
        return self._invocation.tools

    def invoke(self, name: str, arguments: str | Mapping[str, Any], *, call_id: str | None = None) -> ToolCalling:
        """Calls a tool.

        Args:
            name: Its name in `list()`.
            arguments: JSON text or an object.
            call_id: The id the model gave the call.

        Returns:
            A call: `ToolInvokeMessage`s for the user and, as its result, a `ToolResult` for the model. A tool's own
            failure is a result with `is_error`.

        Raises:
            RunCancelled: The run was cancelled.
        """
        request = ToolRequest(name=name, arguments=arguments, call_id=call_id or "")
        return self._calls.track(_with_refusals_as_results(self._hatch.tool(request)), ToolResult)


async def _with_refusals_as_results(
    answers: AsyncGenerator[ToolInvokeMessage | ToolResult, None],
) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
    """A tool that this run does not have, or that could not be called, is the model's business: a result, no error."""
    try:
        async for answer in answers:
            yield answer
    except (ToolNotFoundError, ToolFailedError) as error:
        yield ToolResult(error.message, is_error=True, details={"code": error.code.value})
    finally:
        await answers.aclose()


class Pending:
    """An answer under way: `await pending` in an async strategy, `pending.wait()` in a generator strategy."""

    def __init__(self, hatch: Hatch, calls: OpenCalls, request: StorageRequest) -> None:
        self._hatch = hatch
        self._calls = calls
        self._request = request

    def __await__(self) -> Generator[Any, None, Any]:
        self._calls.check_cancelled()
        return self._hatch.storage(self._request).__await__()

    def wait(self) -> Any:
        """Waits in the strategy's thread.

        Raises:
            EnfiladeError: The host refused.
            RunCancelled: The run was cancelled meanwhile.
        """
        return self._calls.wait_for(self._hatch.storage(self._request))


class SessionStorage:
    """Small values that last between runs, kept apart by plugin and conversation."""

    def __init__(self, hatch: Hatch, calls: OpenCalls) -> None:
        self._hatch = hatch
        self._calls = calls

    def get(self, key: str) -> Pending:
        """The JSON value under a key, None where there is none."""
        return Pending(self._hatch, self._calls, StorageRequest("get", key))

    def set(self, key: str, value: Any) -> Pending:
        """Keeps a JSON value under a key."""
        return Pending(self._hatch, self._calls, StorageRequest("set", key, value))

    def delete(self, key: str) -> Pending:
        """Forgets a key."""
        return Pending(self._hatch, self._calls, StorageRequest("delete", key))

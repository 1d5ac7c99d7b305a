"""Runs the tools of an agent: their menu for the model, and their calls."""

import asyncio
import logging
import os
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from copy import deepcopy
from time import monotonic
from typing import Any

from enfilade.tools.arguments.reader import ArgumentsError
from enfilade.tools.blobs import in_parts
from enfilade.tools.call import CallTimeoutError, Ended, RunningCall, Strays
from enfilade.tools.fault import fault_text, presentable, secrets_of
from enfilade.tools.functions.threads import Threads
from enfilade.tools.json_value import NotJsonError, clean_text, json_copy
from enfilade.tools.limits import ToolLimits
from enfilade.tools.names import did_you_mean, valid_names
from enfilade.tools.output import messages_of
from enfilade.tools.place import PlacedTool
from enfilade.tools.report import LoadReport
from enfilade.tools.result_text import NOTHING, ResultText
from enfilade.tools.tool import Changing, ToolSource
from enfilade.tools.weight import weigh
from enfilade_sdk.errors import EnfiladeError, ErrorCode, LimitExceededError
from enfilade_sdk.messages import MessageType, ToolInvokeMessage
from enfilade_sdk.prompts import PromptTool, ToolRequest, ToolResult

_log = logging.getLogger(__name__)
_MOST_NAME = 100
_MOST_BEFORE = 2_000


class ToolEngine:
    """The tools of one set-up, ready to be called.

    Args:
        tools: The tools, no two of one name.
        limits: What calls may cost.
        threads: The threads that the tools' functions run in.
        sources: Where the tools come from; closed with the engine.
        report: What came of loading them.
    """

    def __init__(
        self,
        tools: Sequence[PlacedTool],
        *,
        limits: ToolLimits | None = None,
        threads: Threads | None = None,
        sources: Sequence[ToolSource] = (),
        report: LoadReport | None = None,
    ) -> None:
        self.report = report or LoadReport()
        self._limits = limits or ToolLimits()
        self._threads = threads
        self._sources = sources
        names = valid_names([tool.name for tool in tools])
        self._tools = dict(zip(names, tools, strict=True))
        self._by_own_name = {tool.name: name for name, tool in self._tools.items()}
        self._strays = Strays()
        self._secrets = secrets_of(os.environ)

    @property
    def names(self) -> list[str]:
        """What the model calls the tools, in order."""
        return list(self._tools)

    @property
    def abandoned(self) -> int:
        """Calls that were stopped and whose work has not ended yet, in threads and on the loop."""
        return len(self._strays) + (self._threads.abandoned if self._threads is not None else 0)

    @property
    def outdated(self) -> bool:
        """Whether an engine made anew may have other tools, because those of a source have changed."""
        return any(isinstance(source, Changing) and source.outdated for source in self._sources)

    def menu(self) -> list[PromptTool]:
        """The tools as a model sees them; the caller may keep and change what it gets."""
        return [
            PromptTool(name=name, description=tool.description, parameters=deepcopy(tool.offered))
            for name, tool in self._tools.items()
        ]

    async def invoke(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        """Calls a tool: its messages as they come and, last, exactly one result.

        Whatever is wrong with the request or the tool is a result with `is_error`, whose text the model can act on;
        its `details` have `arguments`, `provider`, `seconds` and `code`. Closing the generator, or cancelling
        whoever reads it, stops the tool.
        """
        started = monotonic()
        name = self._by_own_name.get(request.name, request.name) if request.name not in self._tools else request.name
        tool = self._tools.get(name)
        if tool is None:
            yield _failed(self._unknown(request.name), ErrorCode.TOOL_NOT_FOUND, started, {})
            return
        details: dict[str, Any] = {"provider": tool.tool.provider}
        try:
            arguments = tool.reader.read(request.arguments)
        except ArgumentsError as error:
            yield _failed(error.message, error.code, started, {**details, "arguments": _as_given(request)})
            return
        details["arguments"] = tool.for_logs(arguments.values)
        if arguments.dropped:
            details["dropped"] = list(arguments.dropped)
        async with aclosing(self._run(name, tool, arguments.values, details)) as items:
            async for item in items:
                yield item

    async def aclose(self) -> None:
        """Closes the sources; one that fails to close is logged."""
        results = await asyncio.gather(*(source.aclose() for source in self._sources), return_exceptions=True)
        for source, result in zip(self._sources, results, strict=True):
            if isinstance(result, Exception):
                _log.warning("the tool source %s could not be closed: %s", source.origin, presentable(str(result)))

    async def _run(
        self, name: str, tool: PlacedTool, arguments: dict[str, Any], details: dict[str, Any]
    ) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        started = monotonic()
        timeout = tool.timeout if tool.timeout is not None else self._limits.timeout
        text = ResultText(self._limits.result_bytes)
        failure: BaseException | None = None
        try:
            self._check_strays()
            messages = _opened(tool, arguments)
            grace = self._limits.grace
            async with RunningCall(name, messages, timeout=timeout, grace=grace, strays=self._strays) as call:
                while not isinstance(item := await call.next(), Ended):
                    for message in self._admitted(name, item, text):
                        yield message
                failure = item.error
        except CallTimeoutError:
            words = (
                f"the tool {name} did not end within {timeout:g} s and was stopped; ask it for less, or go another way"
            )
            failure = EnfiladeError(words)
            details["code"] = ErrorCode.DEADLINE.value
        except Exception as error:  # noqa: BLE001 - a tool's fault, whatever it is, is a result and no end of a run
            failure = error
        if failure is not None:
            yield self._failure(name, tool, failure, text.text, started, details)
            return
        seconds = monotonic() - started
        yield ToolResult(text.text or NOTHING, seconds=seconds, details={**details, "seconds": seconds})

    def _check_strays(self) -> None:
        if len(self._strays) >= self._limits.strays:
            raise LimitExceededError(
                f"no tool is called any more, since {len(self._strays)} calls were stopped and have not ended: "
                f"{self._strays.names}"
            )

    def _admitted(self, name: str, message: ToolInvokeMessage, text: ResultText) -> Iterator[ToolInvokeMessage]:
        """The messages to pass on for one that a tool gave.

        Raises:
            LimitExceededError: It is too large.
        """
        weighed = weigh(message)
        is_file = message.type is MessageType.BLOB
        limit = self._limits.file_bytes if is_file else self._limits.item_bytes
        if weighed.size > limit:
            what = "file" if is_file else message.type.value
            raise LimitExceededError(
                f"the tool {name} gave a {what} of {weighed.size:,} bytes, above the limit of {limit:,} bytes; "
                "ask it for less, or for a part",
                details={"size": weighed.size, "limit": limit},
            )
        text.take(weighed)
        if is_file and weighed.size > self._limits.item_bytes:
            yield from in_parts(weighed.message)
        else:
            yield weighed.message

    def _failure(
        self, name: str, tool: PlacedTool, error: BaseException, before: str, started: float, details: dict[str, Any]
    ) -> ToolResult:
        secrets = tool.secrets | self._secrets
        if isinstance(error, ArgumentsError) or "code" in details or isinstance(error, LimitExceededError):
            text = presentable(str(error), secrets)
        else:
            text = fault_text(name, error, secrets)
            _log.info("%s", text)
            _log.debug("where %s failed:\n%s", name, "".join(traceback.format_tb(error.__traceback__)))
        code = error.code if isinstance(error, EnfiladeError) else ErrorCode.TOOL_FAILED
        code = ErrorCode(details.get("code", code))
        if code is ErrorCode.INTERNAL:
            code = ErrorCode.TOOL_FAILED
        if before:
            text += f"\nbefore that it gave:\n{before[:_MOST_BEFORE]}"
        return _failed(text, code, started, details)

    def _unknown(self, name: str) -> str:
        shown = presentable(clean_text(name)[:_MOST_NAME])
        if not self._tools:
            return f"there is not a tool named {shown}; there are no tools at all"
        meant = did_you_mean(name, self._tools)
        return f"there is not a tool named {shown}.{meant} The tools are: {', '.join(self._tools)}"


async def _opened(tool: PlacedTool, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
    """The tool's messages; what its `invoke` raises before the first is raised by the call's task, as all else."""
    messages = tool.tool.invoke(arguments)
    try:
        async for given in messages:
            for message in messages_of(given):
                yield message
    finally:
        close = getattr(messages, "aclose", None)
        if close is not None:
            await close()


def _failed(text: str, code: ErrorCode, started: float, details: dict[str, Any]) -> ToolResult:
    seconds = monotonic() - started
    return ToolResult(text, is_error=True, seconds=seconds, details={**details, "code": code.value, "seconds": seconds})


def _as_given(request: ToolRequest) -> Any:
    try:
        return json_copy(request.arguments)
    except NotJsonError as error:
        return f"not JSON: {error}"

"""Tools that do what a script says, and remember how they were called."""

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from enfilade_sdk.errors import EnfiladeError, ErrorCode, ToolNotFoundError
from enfilade_sdk.messages import ToolInvokeMessage, blob_message, json_message, message_of, text_message
from enfilade_sdk.prompts import PromptTool, ToolRequest, ToolResult
from enfilade_sdk.testing.result_text import result_text

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class ScriptedTool:
    """One tool.

    Attributes:
        does: What a call gives: a value (text, JSON value, bytes, message, list of messages), an exception (the call
            fails with it), or a function of the arguments that gives or yields such values, plain or async.
        description: What it does, in words for the model.
        parameters: JSON Schema of the arguments; None reads it from the function's signature.
    """

    does: Any
    description: str = ""
    parameters: Mapping[str, Any] | None = None

    def prompt(self, name: str) -> PromptTool:
        """The tool as a model sees it."""
        schema = _signature_schema(self.does) if self.parameters is None else dict(self.parameters)
        return PromptTool(name=name, description=self.description or _summary(self.does), parameters=schema)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call that arrived.

    Attributes:
        name: The tool asked for.
        arguments: As an object; as the text that came when it is no JSON object.
        call_id: The id the model gave the call.
    """

    name: str
    arguments: dict[str, Any] | str
    call_id: str = ""


@dataclass(slots=True)
class ScriptedTools:
    """The tools of a run by name; what is not a `ScriptedTool` is taken for what one does.

    Attributes:
        tools: The tools.
        calls: Every call of a tool there is, in order of arrival.
    """

    tools: Mapping[str, Any] = field(default_factory=dict)
    calls: list[RecordedCall] = field(default_factory=list)

    def menu(self) -> tuple[PromptTool, ...]:
        """The tools as a model sees them."""
        return tuple(self._tool(name).prompt(name) for name in self.tools)

    async def stream(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        """Carries a call out: its messages, then its result. A tool's own failure is a result.

        Raises:
            ToolNotFoundError: There is no such tool.
        """
        if request.name not in self.tools:
            names = ", ".join(self.tools) or "none"
            raise ToolNotFoundError(f"there is not a tool named {request.name}; there are: {names}")
        tool, arguments = self._tool(request.name), _arguments(request)
        self.calls.append(RecordedCall(request.name, arguments, request.call_id))
        said: list[ToolInvokeMessage] = []
        try:
            _check(arguments, tool.prompt(request.name).parameters)
            async for value in _values(tool.does, arguments):
                message = _message(value)
                said.append(message)
                yield message
        except Exception as error:  # noqa: BLE001 - a tool may raise anything, and it is a result
            yield _failed(request.name, error, arguments)
        else:
            yield ToolResult(result_text(said), details={"arguments": arguments, "provider": "testing"})

    def _tool(self, name: str) -> ScriptedTool:
        tool = self.tools[name]
        return tool if isinstance(tool, ScriptedTool) else ScriptedTool(tool)


class _ArgumentsError(Exception):
    """The arguments do not fit; the text says why."""


def _arguments(request: ToolRequest) -> dict[str, Any] | str:
    if not isinstance(request.arguments, str):
        return dict(request.arguments)
    try:
        value = json.loads(request.arguments or "{}")
    except ValueError:
        return request.arguments
    return value if isinstance(value, dict) else request.arguments


def _check(arguments: dict[str, Any] | str, schema: Mapping[str, Any]) -> None:
    if isinstance(arguments, str):
        raise _ArgumentsError(f"expected a JSON object of arguments, got: {arguments}")
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    if missing:
        raise _ArgumentsError(f"these arguments are missing: {', '.join(missing)}")


def _failed(name: str, error: Exception, arguments: dict[str, Any] | str) -> ToolResult:
    if isinstance(error, _ArgumentsError):
        code, text = ErrorCode.INVALID_PARAMS, f"the tool {name} was not called: {error}"
    else:
        code = error.code if isinstance(error, EnfiladeError) else ErrorCode.TOOL_FAILED
        text = f"the tool {name} failed: {str(error) or type(error).__name__}"
    return ToolResult(text, is_error=True, details={"arguments": arguments, "provider": "testing", "code": code.value})


async def _values(does: Any, arguments: dict[str, Any] | str) -> AsyncIterator[Any]:
    """What a tool gives, piece by piece."""
    given = await _given(does, arguments)
    if isinstance(given, AsyncIterator):
        async for value in given:
            yield value
    elif isinstance(given, _Several):
        for value in given.values:
            yield value
    else:
        yield given


async def _given(does: Any, arguments: dict[str, Any] | str) -> Any:
    if isinstance(does, Exception):
        raise does
    if not callable(does):
        return _several(does)
    if inspect.iscoroutinefunction(does):
        return _several(await does(**_keywords(arguments)))
    if inspect.isasyncgenfunction(does):
        return does(**_keywords(arguments))
    return await asyncio.to_thread(_call_through, does, _keywords(arguments))


@dataclass(frozen=True, slots=True)
class _Several:
    values: Sequence[Any]


def _call_through(does: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    """Calls a plain function, and runs a generator to its end, in the thread it was called in."""
    given = does(**keywords)
    return _Several(list(given)) if isinstance(given, Iterator) else _several(given)


def _several(given: Any) -> Any:
    is_messages = isinstance(given, list) and given and all(isinstance(item, ToolInvokeMessage) for item in given)
    return _Several(given) if is_messages else given


def _keywords(arguments: dict[str, Any] | str) -> dict[str, Any]:
    assert isinstance(arguments, dict), "arguments were checked before the tool is called"
    return arguments


def _message(value: Any) -> ToolInvokeMessage:
    if isinstance(value, ToolInvokeMessage | str):
        return message_of(value)
    if isinstance(value, bytes):
        return blob_message(value, mime_type="application/octet-stream")
    if isinstance(value, dict | list):
        return json_message(value)
    return text_message(json.dumps(value))


def _signature_schema(does: Any) -> dict[str, Any]:
    if not callable(does):
        return {"type": "object", "properties": {}}
    parameters: Iterable[inspect.Parameter] = inspect.signature(does).parameters.values()
    named = [p for p in parameters if p.kind in {p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY}]
    schema: dict[str, Any] = {"type": "object", "properties": {p.name: _property(p) for p in named}}
    required = [p.name for p in named if p.default is p.empty]
    return schema | ({"required": required} if required else {})


def _property(parameter: inspect.Parameter) -> dict[str, Any]:
    kind = _JSON_TYPES.get(parameter.annotation)
    return {"type": kind} if kind else {}


def _summary(does: Any) -> str:
    return (inspect.getdoc(does) or "").partition("\n")[0] if callable(does) else ""

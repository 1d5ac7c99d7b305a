"""What goes out to an OpenAI-compatible endpoint."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from enfilade.models.quirks import REASONING, STOP, STREAM_OPTIONS, Quirks
from enfilade.models.settings import ModelSettings
from enfilade.models.surrogates import mended
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelRequest,
    PromptMessage,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

_OURS = frozenset({"model", "messages", "prompt", "tools", "tool_choice", "stream", "stream_options", "n"})
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_LIMIT = 64
_LEFT_OUT = "[an image was left out: this model does not take images]"


class Outgoing(NamedTuple):
    """A request ready to be sent: its body, and which optional things it holds (see `Quirks.learn`)."""

    body: bytes
    optional: set[str]


def chat_request(model: ModelSettings, request: ModelRequest, quirks: Quirks) -> Outgoing:
    """The chat form. Nothing that was given is changed."""
    optional: set[str] = set()
    echo = _echo_field(model, quirks)
    body = _common(model, request, quirks, optional)
    body["messages"] = _messages(request.messages, vision=model.vision, echo=echo, optional=optional)
    if request.tools:
        body["tools"] = [tool.to_openai() for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _tool_choice(request)
    return Outgoing(encode(body), optional)


def completion_request(model: ModelSettings, request: ModelRequest, quirks: Quirks) -> Outgoing:
    """The completions form: the texts of all messages, one after another, are the prompt."""
    optional: set[str] = set()
    body = _common(model, request, quirks, optional)
    body["prompt"] = "\n\n".join(filter(None, map(_prompt_text, request.messages)))
    return Outgoing(encode(body), optional)


def encode(body: Mapping[str, Any]) -> bytes:
    """JSON bytes; what orjson does not take (integers above 64 bits, lone surrogates) goes the slower way."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return mended(json.dumps(body, ensure_ascii=False)).encode()


def known_tools(request: ModelRequest) -> set[str]:
    """The tools that the run has, and those that were called earlier in the conversation, offered now or not."""
    called = (message.tool_calls for message in request.messages if isinstance(message, AssistantMessage))
    return {*request.known_tools, *(call.name for calls in called for call in calls)}


def _common(model: ModelSettings, request: ModelRequest, quirks: Quirks, optional: set[str]) -> dict[str, Any]:
    given = {**model.parameters, **request.parameters}
    body = {name: value for name, value in given.items() if value is not None and name not in _OURS}
    body["model"] = model.name
    stop = [word for word in request.stop if word]
    if stop:
        body["stop"] = stop
    if not model.stop_words or STOP in quirks.refused:
        body.pop("stop", None)
    if "stop" in body:
        optional.add(STOP)
    if request.stream and model.streaming:
        body["stream"] = True
        if STREAM_OPTIONS not in quirks.refused:
            body["stream_options"] = {"include_usage": True}
            optional.add(STREAM_OPTIONS)
    return body


def _echo_field(model: ModelSettings, quirks: Quirks) -> str:
    """The field in which the thought of this turn goes back; empty when it does not."""
    if model.echo_reasoning is False:
        return ""
    field = quirks.reasoning_field
    if model.echo_reasoning is True:
        return _text_field(field or "reasoning_content")
    if REASONING in quirks.refused or field == "":
        return ""
    return _text_field(field or "reasoning_content")


def _text_field(field: str) -> str:
    return "reasoning" if field == "reasoning_details" else field


def _messages(
    messages: Sequence[PromptMessage], *, vision: bool, echo: str, optional: set[str]
) -> list[dict[str, Any]]:
    out = [_message(message, vision=vision) for message in messages]
    at = len(messages)
    while echo and at and not isinstance(messages[at - 1], UserMessage):
        at -= 1
        if thought := _thought_of_round(messages[at]):
            out[at][echo] = thought
            optional.add(REASONING)
    return out


def _thought_of_round(message: PromptMessage) -> str:
    if isinstance(message, AssistantMessage) and message.tool_calls:
        return message.reasoning or ""
    return ""


def _message(message: PromptMessage, *, vision: bool) -> dict[str, Any]:
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.content}
    if isinstance(message, UserMessage):
        return {"role": "user", "content": _user_content(message, vision=vision)}
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.tool_calls:
        calls = [_call(call) for call in message.tool_calls]
        return {"role": "assistant", "content": message.content or None, "tool_calls": calls}
    return {"role": "assistant", "content": message.content or ""}


def _user_content(message: UserMessage, *, vision: bool) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    if vision:
        return [part.model_dump(exclude_none=True) for part in message.content]
    return "\n".join(part.text if isinstance(part, TextPart) else _LEFT_OUT for part in message.content)


def _call(call: ToolCall) -> dict[str, Any]:
    """A call of the history; strict endpoints refuse arguments that are no object and names of other characters."""
    name = _NOT_IN_NAMES.sub("_", call.name)[:_NAME_LIMIT] or "_"
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": _arguments(call)}}


def _arguments(call: ToolCall) -> str:
    """The arguments as they are; calls that come from elsewhere may hold what cannot be sent."""
    text = call.arguments
    if call.parsed is not None and text.startswith("{"):
        return text
    try:
        return text if isinstance(json.loads(text), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def _tool_choice(request: ModelRequest) -> str | dict[str, Any]:
    choice = request.tool_choice
    if isinstance(choice, dict):
        return choice if "type" in choice or "name" not in choice else _named_choice(str(choice["name"]))
    if choice is not None and any(tool.name == choice for tool in request.tools):
        return _named_choice(choice)
    return choice or "auto"


def _named_choice(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def _prompt_text(message: PromptMessage) -> str:
    if isinstance(message, UserMessage):
        content = _user_content(message, vision=False)
        return content if isinstance(content, str) else ""
    return message.content or ""

"""What strict endpoints refuse: each rule reads a request and says what is wrong with it, or None."""

import json
from collections.abc import Callable, Mapping
from typing import Any

Json = Mapping[str, Any]
Rule = Callable[[Json], str | None]


def arguments_are_objects(request: Json) -> str | None:
    """Arguments of calls in the history must be a string that holds a JSON object."""
    for message in request.get("messages", []):
        for call in message.get("tool_calls") or []:
            text = call["function"]["arguments"]
            try:
                if not isinstance(text, str) or not isinstance(json.loads(text), dict):
                    return f"arguments must be a string holding a JSON object, got {text!r}"
            except ValueError:
                return f"arguments are not JSON: {text!r}"
    return None


def calls_are_answered(request: Json) -> str | None:
    """Each tool message answers a call of the assistant message before its block, each call once."""
    open_ids: list[str] = []
    for message in request.get("messages", []):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                return f"tool message answers {message['tool_call_id']!r}, which nobody asked"
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            return f"calls without an answer: {open_ids}"
        else:
            open_ids = [call["id"] for call in message.get("tool_calls") or []]
            if len(set(open_ids)) != len(open_ids):
                return f"call ids are not unique: {open_ids}"
    return f"calls without an answer: {open_ids}" if open_ids else None


def reasoning_is_echoed(expected: str, name: str = "reasoning_content") -> Rule:
    """An assistant message with calls must carry the reasoning, one without calls must not have the field."""

    def rule(request: Json) -> str | None:
        for message in request.get("messages", []):
            if message["role"] == "assistant" and bool(message.get("tool_calls")) != (name in message):
                return f"{name} must stand beside tool_calls and nowhere else"
            if name in message and message[name] != expected:
                return f"{name} must be {expected!r}, got {message[name]!r}"
        return None

    return rule


def lacks(*paths: str) -> Rule:
    """Refuses a request that has one of the fields, at its top or in a message, and names it as servers do."""

    def rule(request: Json) -> str | None:
        for name in paths:
            if name in request or any(name in message for message in request.get("messages", [])):
                return f"Unrecognized request argument supplied: {name}"
        return None

    return rule


def tools_are_plain(request: Json) -> str | None:
    """Each tool needs a description and an object schema with properties."""
    for tool in request.get("tools", []):
        function = tool["function"]
        schema = function.get("parameters")
        if function.get("description") is None or not isinstance(schema, dict) or schema.get("type") != "object":
            return f"tool {function.get('name')!r} lacks a description or an object schema"
        if not isinstance(schema.get("properties"), dict):
            return f"tool {function.get('name')!r} lacks properties"
    return None


RULES: Mapping[str, Rule] = {
    rule.__name__: rule for rule in (arguments_are_objects, calls_are_answered, tools_are_plain)
}

"""Tool calls out of actions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from enfilade_cot.events import Action, Json
from enfilade_cot.keyed import keyed
from enfilade_cot.reader import read_whole
from enfilade_sdk.prompts import PromptTool, ToolCall

_SCALARS = ("string", "integer", "number", "boolean")


def tool_calls(actions: Sequence[Action], menu: Sequence[PromptTool], round_number: int) -> tuple[ToolCall, ...]:
    """The calls of a round, in order.

    Args:
        actions: The actions.
        menu: The tools there are.
        round_number: Makes the ids of one run's calls different.
    """
    schemas = {tool.name: tool.parameters for tool in menu}
    return tuple(
        _call(action, schemas.get(action.name, {}), f"round_{round_number}_{index}")
        for index, action in enumerate(actions, 1)
    )


def _call(action: Action, schema: Mapping[str, Any], call_id: str) -> ToolCall:
    value = _opened(action.input, schema)
    if value == {}:
        value = {key: inner for key, inner in action.rest.items() if key in _properties(schema)}
    if isinstance(value, list):
        value = _in_order(value, schema)
    if not isinstance(value, dict) and (name := _meant(schema)) is not None:
        value = {name: value}
    if isinstance(value, dict):
        return ToolCall(id=call_id, name=action.name, arguments=_text(value), parsed=value)
    return ToolCall(id=call_id, name=action.name, arguments=value if isinstance(value, str) else _text(value))


def _opened(value: Json, schema: Mapping[str, Any]) -> Json:
    """No input is an empty object; one that was written as a text is opened where the tool has its keys."""
    if value in (None, ""):
        return {}
    if isinstance(value, str) and value.lstrip().startswith("{"):
        whole, inner = read_whole(value, strict=True)
        if whole and isinstance(inner, dict) and set(inner) <= set(_properties(schema)):
            return inner
    if isinstance(value, str):
        pairs = keyed(value, _properties(schema))
        return value if pairs is None else pairs
    return value


def _meant(schema: Mapping[str, Any]) -> str | None:
    """The parameter that a bare value is for: the only one, or the only one that has to be given."""
    names = list(_properties(schema))
    required = schema.get("required", names)
    if len(names) == 1:
        return names[0]
    return required[0] if isinstance(required, list) and len(required) == 1 else None


def _in_order(values: list[Json], schema: Mapping[str, Any]) -> Json:
    """Several values, as in `search("x", 3)`, are the parameters in their order; one list for the first is not."""
    names = list(_properties(schema))
    if not 1 < len(values) <= len(names):
        return values
    first = _properties(schema)[names[0]]
    kind = first.get("type") if isinstance(first, Mapping) else None
    if kind == "array":
        items = first.get("items")
        is_list_of_lists = not isinstance(items, Mapping) or items.get("type") in (None, "array")
        return values if is_list_of_lists or not isinstance(values[0], list) else dict(zip(names, values, strict=False))
    return dict(zip(names, values, strict=False)) if kind in _SCALARS else values


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)

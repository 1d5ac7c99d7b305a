"""Schemas as tools declare them, and what is made of them."""

from typing import Any

from enfilade.tools.arguments.reader import ArgumentReader, ArgumentsError
from enfilade.tools.schemas.schema import ToolSchema, tool_schema

RECURSIVE = {
    "type": "object",
    "properties": {
        "q": {"$ref": "#/$defs/Req"},
        "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}], "default": None},
    },
    "required": ["q"],
    "additionalProperties": False,
    "$defs": {
        "Mode": {"type": "string", "enum": ["brief", "long"]},
        "Req": {
            "type": "object",
            "properties": {"words": {"type": "string"}, "then": {"$ref": "#/$defs/Req"}},
            "required": ["words"],
        },
    },
}


def offered(declared: object) -> dict[str, Any]:
    return tool_schema(declared).offered


def property_of(schema: Any, name: str = "p") -> Any:
    """What becomes of one property."""
    return offered({"type": "object", "properties": {name: schema}})["properties"].get(name)


def accepts(schema: ToolSchema, arguments: dict[str, Any]) -> bool:
    try:
        return ArgumentReader("t", schema).read(arguments).values == arguments
    except ArgumentsError:
        return False

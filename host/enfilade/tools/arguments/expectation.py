"""What a schema expects, in words that a model can act on."""

from typing import Any

from enfilade.tools.json_value import compact_json
from enfilade.tools.schemas.keywords import Schema

_PLAIN = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_MOST_VALUES = 20
_MOST_FIELDS = 12
_LEVELS = 3


def expected(schema: Any, definitions: Schema, *, level: int = 0) -> str:
    """Words for what fits a schema, such as `an integer from 1 to 10` or `a list (each item: a string)`."""
    if not isinstance(schema, dict):
        return "any value"
    if "$ref" in schema:
        return expected(definitions.get(schema["$ref"].rpartition("/")[2]), definitions, level=level)
    if "const" in schema:
        return f"exactly {compact_json(schema['const'])}"
    if "enum" in schema:
        return _one_of(schema["enum"])
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " or ".join(dict.fromkeys(expected(branch, definitions, level=level) for branch in branches))
    kind = schema.get("type")
    words = _PLAIN.get(kind, "any value") if isinstance(kind, str) else "any value"
    return words + _limits(schema, kind) + _parts(schema, definitions, level)


def _one_of(values: list[Any]) -> str:
    shown = [compact_json(value) for value in values[:_MOST_VALUES]]
    more = f" or {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    return f"one of {', '.join(shown)}{more}" if len(values) > 1 else f"exactly {shown[0]}"


def _limits(schema: Schema, kind: Any) -> str:
    if kind in {"integer", "number"}:
        least, most = schema.get("minimum"), schema.get("maximum")
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        words = [(" of at least", least), (" above", above), (" of at most", most), (" below", below)]
        if least is not None and most is not None:
            words = [(f" from {least} to", most)]
        step = schema.get("multipleOf")
        return "".join(f"{word} {value}" for word, value in words if value is not None) + (
            f" in steps of {step}" if step is not None else ""
        )
    if kind == "string":
        return _string_limits(schema)
    if kind == "array":
        return _count(schema.get("minItems"), schema.get("maxItems"), "items")
    return ""


def _string_limits(schema: Schema) -> str:
    words = f" ({schema['format']})" if "format" in schema else ""
    words += _count(schema.get("minLength"), schema.get("maxLength"), "characters")
    return words + (f" matching {schema['pattern'][:100]}" if "pattern" in schema else "")


def _count(least: Any, most: Any, what: str) -> str:
    if least is not None and least == most:
        return f" of {least} {what if least != 1 else what.removesuffix('s')}"
    if least is not None and most is not None:
        return f" of {least} to {most} {what}"
    if least is not None:
        return f" of at least {least} {what}"
    return f" of at most {most} {what}" if most is not None else ""


def _parts(schema: Schema, definitions: Schema, level: int) -> str:
    if level >= _LEVELS:
        return ""
    if schema.get("items") and isinstance(schema["items"], dict):
        return f" (each item: {expected(schema['items'], definitions, level=level + 1)})"
    if schema.get("properties"):
        return f" with {fields(schema, definitions, level=level + 1)}"
    return ""


def fields(schema: Schema, definitions: Schema, *, level: int = 0) -> str:
    """The properties of an object schema, each with what it expects and whether it is required."""
    required = schema.get("required", [])
    properties = schema.get("properties", {})
    ordered = sorted(properties, key=lambda name: name not in required)
    shown = [
        f"{name} ({expected(properties[name], definitions, level=level)}{', required' if name in required else ''})"
        for name in ordered[:_MOST_FIELDS]
    ]
    return ", ".join(shown) + (f" and {len(ordered) - _MOST_FIELDS} more" if len(ordered) > _MOST_FIELDS else "")

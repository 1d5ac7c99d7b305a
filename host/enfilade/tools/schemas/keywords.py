"""The keywords of JSON Schema 2020-12 and where they hold further schemas."""

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]
"""One JSON Schema in its object form."""

ONE = frozenset(
    [
        "additionalProperties",
        "unevaluatedProperties",
        "items",
        "unevaluatedItems",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "propertyNames",
        "contentSchema",
        "additionalItems",
    ]
)
"""Keywords whose value is one schema."""

MANY = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""

NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
"""Keywords whose value maps names to schemas."""

ANNOTATIONS = frozenset(["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"])
"""Keywords that only tell something about a value and refuse none."""

IN_PLACE = frozenset({"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas"})
"""Keywords whose schemas apply to the same value; a reference that comes back through these alone never ends."""

OF_TYPE: dict[str, frozenset[str]] = {
    "string": frozenset(
        ["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema"]
    ),
    "number": frozenset(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    "array": frozenset(
        [
            "items",
            "prefixItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
            "uniqueItems",
            "unevaluatedItems",
        ]
    ),
    "object": frozenset(
        [
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
        ]
    ),
}
"""Keywords that say something about values of one type only."""

TYPES = frozenset(["string", "number", "integer", "boolean", "array", "object", "null"])

KNOWN = (
    ONE
    | MANY
    | NAMED
    | ANNOTATIONS
    | frozenset().union(*OF_TYPE.values())
    | {"type", "enum", "const", "$ref", "format"}
)
"""What may stand in a schema that goes to a model; everything else is left out."""


def with_children(schema: Schema, visit: Callable[[Any, str], Any]) -> Schema:
    """A copy of the schema in which each schema it holds is what `visit(child, keyword)` makes of it.

    Parts that do not have the form their keyword asks for are kept as they are.
    """
    return {keyword: _visited(keyword, value, visit) for keyword, value in schema.items()}


def _visited(keyword: str, value: Any, visit: Callable[[Any, str], Any]) -> Any:
    if keyword in NAMED and isinstance(value, dict):
        return {name: visit(child, keyword) for name, child in value.items()}
    if (keyword in MANY or keyword == "items") and isinstance(value, list):
        return [visit(child, keyword) for child in value]
    if keyword in ONE and isinstance(value, dict | bool):
        return visit(value, keyword)
    return value


def children(schema: Schema) -> list[tuple[Any, str]]:
    """The schemas that a schema holds, each with its keyword."""
    found: list[tuple[Any, str]] = []
    with_children(schema, lambda child, keyword: found.append((child, keyword)))
    return found

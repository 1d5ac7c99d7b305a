"""Spellings of one schema that mean the same, brought to that of JSON Schema 2020-12. Its parts are left alone."""

from typing import Any

from enfilade.tools.schemas.declaration import number
from enfilade.tools.schemas.fold import both
from enfilade.tools.schemas.keywords import ANNOTATIONS, MANY, OF_TYPE, Schema

_DATA = frozenset({"default", "const", "examples"})
_NUMBERS = OF_TYPE["number"] | frozenset(
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"]
)
_SAYS_MORE = frozenset({"$ref", "anyOf", "oneOf", "allOf", "not", "const", "if"})


def without_nulls(schema: Schema) -> Schema:
    """The schema without keywords that were set to null, save those for which null is a value."""
    return {k: v for k, v in schema.items() if v is not None or k in _DATA}


def of_older_drafts(schema: Schema) -> None:
    """Rewrites, in place, the limits and tuples of drafts 3 to 7, limits that are texts, and empty choices."""
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = schema.get(exclusive)
        if isinstance(flag, bool):
            del schema[exclusive]
            if flag and limit in schema:
                schema[exclusive] = schema.pop(limit)
    for keyword in _NUMBERS & schema.keys():
        schema[keyword] = number(schema[keyword])
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        schema["items"] = schema.get("additionalItems")
    empty = [keyword for keyword in MANY & schema.keys() if schema[keyword] == []]
    if not isinstance(schema.get("enum"), list) or not schema["enum"]:
        empty.append("enum")
    nothing = [keyword for keyword in _NUMBERS | {"items"} if schema.get(keyword, "") is None]
    for keyword in ("additionalItems", *empty, *nothing):
        schema.pop(keyword, None)


def implied_types(schema: Schema) -> list[Schema]:
    """The type that a schema without one implies; empty where it implies none."""
    if _SAYS_MORE & schema.keys():
        return []
    if schema.keys() & {"properties", "additionalProperties", "patternProperties"}:
        return [{"type": "object"}]
    if schema.keys() & {"items", "prefixItems"}:
        return [{"type": "array"}]
    enum = schema.get("enum", [])
    for name in ("string", "integer"):
        if enum and all(is_of(name, value) for value in enum):
            return [{"type": name}]
    return []


def is_of(name: str, value: Any) -> bool:
    """Whether a JSON value is of the type of that name."""
    if name in {"integer", "number"}:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (isinstance(value, float) and (name == "number" or value.is_integer()))
    kinds: dict[str, type] = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, kinds[name])


def typed(schema: Schema, types: list[Schema], *, nullable: bool) -> Schema:
    """The schema with its types: one beside it, several as a choice in which each has the keywords it knows."""
    if len(types) == 1:
        schema = _of_one(schema, types[0])
    elif types:
        schema = _of_several(schema, types)
    return _or_null(schema) if nullable and (types or schema.keys() - ANNOTATIONS) else schema


def _of_one(schema: Schema, kind: Schema) -> Schema:
    name = kind.get("type")
    if name is None:
        return both(kind, schema)
    enum = schema.get("enum")
    if enum and not any(is_of(name, value) for value in enum):
        return schema  # the values say what fits; the type contradicts them all
    whole = {**kind, **schema}
    if name == "array":
        whole.setdefault("items", {})
    return whole


def _of_several(schema: Schema, kinds: list[Schema]) -> Schema:
    branches = [_branch(schema, kind) for kind in kinds]
    spread = {k for branch in branches for k in branch}
    rest = {k: v for k, v in schema.items() if k not in spread | {"enum"}}
    if "enum" in schema:
        branches = [branch for branch in branches if branch.get("enum", True)]
    return both({"anyOf": branches}, rest) if branches else schema


def _branch(schema: Schema, kind: Schema) -> Schema:
    name = kind.get("type", "")
    own = OF_TYPE.get("number" if name == "integer" else name, frozenset())
    branch = {**kind, **{k: v for k, v in schema.items() if k in own}}
    if "enum" in schema and name and name != "null":
        branch["enum"] = [value for value in schema["enum"] if is_of(name, value)]
    if name == "array":
        branch.setdefault("items", {})
    return branch


def _or_null(schema: Schema) -> Schema:
    words = {k: v for k, v in schema.items() if k in ANNOTATIONS}
    core = {k: v for k, v in schema.items() if k not in ANNOTATIONS}
    if isinstance(core.get("enum"), list):
        core["enum"] = [value for value in core["enum"] if value is not None]
    if core.keys() == {"anyOf"}:
        branches = core["anyOf"]
        return {**words, "anyOf": branches if {"type": "null"} in branches else [*branches, {"type": "null"}]}
    return {**words, "anyOf": [core, {"type": "null"}]}

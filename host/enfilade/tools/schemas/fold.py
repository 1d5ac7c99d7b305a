"""Merges schemas that apply to the same value, so that an object schema says at its top what may be given."""

from collections.abc import Callable, Iterable
from typing import Any

from enfilade.tools.json_value import compact_json
from enfilade.tools.schemas.keywords import ANNOTATIONS, Schema

TOP_LEVEL_ONLY_FOR_CHECKS = frozenset(
    [
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "enum",
        "const",
        "dependentSchemas",
        "dependentRequired",
        "unevaluatedProperties",
    ]
)
"""What model endpoints refuse at the top of a tool's parameters; arguments are still checked against it."""


class _ConflictError(Exception):
    """Two schemas have no simple schema that says both."""


def both(left: Schema, right: Schema) -> Schema:
    """One schema for what fits both; words of the right one win.

    An `additionalProperties: false` of one side is read as its author meant it: against properties that neither side
    names.
    """
    try:
        return _merged(left, right)
    except _ConflictError:
        words = {k: v for k, v in (left | right).items() if k in ANNOTATIONS}
        sides = [{k: v for k, v in side.items() if k not in ANNOTATIONS} for side in (left, right)]
        return {**words, "allOf": sides}


def fold_all(schema: Schema) -> Schema:
    """The schema with its own `allOf` merged into it, as far as that can be said simply."""
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return schema
    own = {k: v for k, v in schema.items() if k != "allOf"}
    words = {k: v for k, v in own.items() if k in ANNOTATIONS}
    merged: Schema = {}
    try:
        for part in (*parts, own):
            merged = _merged(merged, part)
    except _ConflictError:
        return schema
    return {**merged, **words}


def _merged(left: Schema, right: Schema) -> Schema:
    merged = dict(left)
    for keyword, value in right.items():
        if keyword not in merged or merged[keyword] == value or keyword in ANNOTATIONS:
            merged[keyword] = value
        else:
            merged[keyword] = _meeting(keyword, merged[keyword], value)
    return merged


def _meeting(keyword: str, left: Any, right: Any) -> Any:
    merge = _MEETINGS.get(keyword)
    if merge is None or (type(left) is not type(right) and {type(left), type(right)} != {int, float}):
        raise _ConflictError(keyword)
    return merge(left, right)


def _each(left: Schema, right: Schema) -> Schema:
    return left | {name: both(left[name], child) if name in left else child for name, child in right.items()}


def _union(left: list[Any], right: list[Any]) -> list[Any]:
    return left + [value for value in right if value not in left]


def _common(left: list[Any], right: list[Any]) -> list[Any]:
    common = [value for value in left if value in right]
    if not common:
        raise _ConflictError("enum")
    return common


def _type(left: str, right: str) -> str:
    if {left, right} == {"integer", "number"}:
        return "integer"
    raise _ConflictError("type")


def _both_or_neither(left: Any, right: Any) -> Any:
    return both(left, right) if isinstance(left, dict) else left and right


_MEETINGS: dict[str, Callable[[Any, Any], Any]] = {
    "properties": _each,
    "patternProperties": _each,
    "required": _union,
    "enum": _common,
    "type": _type,
    "items": _both_or_neither,
    "additionalProperties": _both_or_neither,
    "uniqueItems": lambda left, right: left or right,
    **dict.fromkeys(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"], max),
    **dict.fromkeys(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"], min),
}


def fold_top(schema: Schema, definitions: Schema) -> Schema:
    """An object schema without any choice at its top, for the model to read.

    What every way of choosing requires stays required; what only one way knows becomes optional, and the description
    says which sets go together. Conditions are left to the check of the arguments.
    """
    folded: Schema = {k: v for k, v in schema.items() if k not in TOP_LEVEL_ONLY_FOR_CHECKS}
    folded["properties"] = dict(schema.get("properties") or {})
    if schema.get("unevaluatedProperties") is False:
        folded["additionalProperties"] = False
    for part in _objects(schema.get("allOf"), definitions):
        _take_in(folded, [part], definitions)
    for keyword in ("anyOf", "oneOf"):
        branches = _objects(schema.get(keyword), definitions)
        _take_in(folded, branches, definitions)
        if words := choice_words(keyword, branches):
            folded["description"] = " ".join(filter(None, [folded.get("description"), words]))
    for condition in (*_objects([schema.get("then"), schema.get("else")], definitions), *_dependent(schema)):
        _add_properties(folded, [fold_top(condition, definitions)])
    undeclared = [name for name in folded.get("required", []) if name not in folded["properties"]]
    folded["properties"].update((name, {}) for name in undeclared)
    return folded


def _dependent(schema: Schema) -> list[Schema]:
    return [child for child in (schema.get("dependentSchemas") or {}).values() if isinstance(child, dict)]


def _objects(branches: Any, definitions: Schema) -> list[Schema]:
    """The branches that an object can fit, their references followed."""
    found = []
    for branch in branches if isinstance(branches, list) else []:
        while isinstance(branch, dict) and "$ref" in branch:
            target = definitions.get(branch["$ref"].rpartition("/")[2], {})
            branch = both(target, {k: v for k, v in branch.items() if k != "$ref"})  # noqa: PLW2901
        if isinstance(branch, dict) and branch.get("type", "object") == "object":
            found.append(branch)
    return found


def _take_in(folded: Schema, branches: list[Schema], definitions: Schema) -> None:
    tops = [fold_top(branch, definitions) for branch in branches]
    if not tops:
        return
    _add_properties(folded, tops)
    always = [name for name in tops[0].get("required", []) if all(name in top.get("required", []) for top in tops)]
    if always:
        folded["required"] = _union(list(folded.get("required", [])), always)
    if all(top.get("additionalProperties") is False for top in tops):
        folded["additionalProperties"] = False


def _add_properties(folded: Schema, tops: Iterable[Schema]) -> None:
    own = folded["properties"]
    offers: dict[str, list[Any]] = {}
    for top in tops:
        for name, child in top["properties"].items():
            offers.setdefault(name, []).append(child)
    for name, children in offers.items():
        folded["properties"] = {**folded["properties"], name: _either(own.get(name), children)}


def _either(own: Any, children: list[Any]) -> Any:
    choice = _choice(children)
    if own is None or own == {}:
        return choice
    return own if choice == {} else both(choice, own)


def _choice(children: list[Any]) -> Any:
    different: list[Any] = []
    for child in children:
        if child not in different:
            different.append(child)
    if len(different) == 1:
        return different[0]
    values = [_values(child) for child in different]
    if all(values):
        merged = {k: v for k, v in different[0].items() if k in {"type", "title", "description"}}
        same_type = all(child.get("type") == different[0].get("type") for child in different)
        enum = [value for group in values for value in group]
        return {**(merged if same_type else {}), "enum": list({compact_json(v): v for v in enum}.values())}
    return {"anyOf": different}


def _values(child: Any) -> list[Any]:
    if not isinstance(child, dict):
        return []
    return [child["const"]] if "const" in child else list(child.get("enum", []))


def choice_words(keyword: str, branches: list[Schema]) -> str:
    """A sentence that says which parameters go together; empty where the branches do not differ in that."""
    labels = [_label(branch) for branch in branches]
    if len(set(labels)) < 2 or not all(labels):  # noqa: PLR2004 - a choice has two sides
        return ""
    number = "Give exactly one" if keyword == "oneOf" else "Give at least one"
    return f"{number} of these sets of parameters: {'; or '.join(labels)}."


def _label(branch: Schema) -> str:
    properties = branch.get("properties") or {}
    names = branch.get("required") or list(properties)
    return ", ".join(_named(name, properties.get(name)) for name in names)


def _named(name: str, child: Any) -> str:
    values = _values(child)
    return f"{name}={compact_json(values[0])}" if len(values) == 1 else name

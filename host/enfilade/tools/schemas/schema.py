"""The schema of a tool's arguments in two forms: what the model is shown, and what arguments are checked against."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from enfilade.tools.json_value import NotJsonError, json_copy
from enfilade.tools.schemas.dialect import Dialect, DialectError, UserParameter
from enfilade.tools.schemas.fold import fold_top
from enfilade.tools.schemas.keywords import KNOWN, NAMED, Schema, children
from enfilade.tools.schemas.references import resolve_references
from enfilade.tools.schemas.type_names import is_type
from enfilade_sdk.errors import EnfiladeError, ErrorCode

MAX_REPAIRS = 64
"""Keywords with a senseless value that are left out of one schema before it is given up."""

_NO_SCHEMAS = KNOWN | {"$schema", "$id", "$anchor", "components"}
_NO_PARAMETERS = _NO_SCHEMAS - {"title", "description", "default", "type", "format", "pattern", "enum", "required"}


class SchemaError(EnfiladeError):
    """What a tool gives as its schema cannot be made fit for a model; the text says why."""

    code = ErrorCode.NOT_ADMITTED


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """The arguments of one tool.

    Attributes:
        offered: For the model: an object schema, self-contained, without what the user gives and without a choice at
            its top.
        check: For the arguments as the tool gets them, those of the user included.
        user: The parameters that only the user gives.
        defaults: Values for parameters that the call leaves out, where a host-level declaration states them.
        notes: What could not be kept, for a report.
    """

    offered: Schema
    check: Schema
    user: Mapping[str, UserParameter] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def properties(self) -> Mapping[str, Any]:
        """Every parameter with its schema, the user's included."""
        return {**self.offered["properties"], **self.check["properties"]}

    @property
    def closed(self) -> bool:
        """Whether arguments that are not declared are refused."""
        return False in (self.check.get("additionalProperties"), self.check.get("unevaluatedProperties"))

    def without(self, names: Iterable[str]) -> "ToolSchema":
        """The same arguments, some of them no longer offered to the model."""
        return replace(self, offered=_without(self.offered, set(names)))


def tool_schema(declared: object) -> ToolSchema:
    """Reads what a tool gives as its schema: JSON Schema of any draft or dialect, or host-level declarations.

    The value given is never changed. Nothing is fetched.

    Raises:
        SchemaError: It cannot be made a schema of an object's properties.
    """
    try:
        top = _top(json_copy(declared, infinite="null"))
        resolved, notes = resolve_references(top)
        dialect = Dialect()
        standard = dialect.top(resolved)
        check = _repaired(_opened(standard), dialect.notes)
        offered = _repaired(fold_top(check, check["$defs"]), dialect.notes)
    except (NotJsonError, DialectError) as error:
        raise SchemaError(f"its schema cannot be used: {error}") from None
    except RecursionError:
        raise SchemaError("its schema cannot be used: it is nested too deeply") from None
    return ToolSchema(
        offered=_without(offered, set(dialect.user)),
        check=_tidy(check),
        user=dialect.user,
        defaults=_defaults(declared, check, dialect.user),
        notes=tuple(dict.fromkeys([*notes, *dialect.notes])),
    )


def _top(declared: Any) -> Schema:
    """The object schema behind the forms a tool without or with parameters is declared in."""
    if declared is None or declared is True:
        return {"type": "object"}
    if isinstance(declared, list):
        return {"type": "object", "properties": declared}
    if not isinstance(declared, dict):
        kind = type(declared).__name__
        raise DialectError(f"it is {kind} {str(declared)[:40]!r}; expected an object schema")
    return {"type": "object", "properties": declared} if _is_bare(declared) else declared


def _is_bare(declared: Schema) -> bool:
    """Whether it maps parameters to their schemas without the shell `{"type": "object", "properties": ...}`."""
    if all(isinstance(part, dict) for part in declared.values()):
        return bool(declared) and not declared.keys() & _NO_PARAMETERS
    return not declared.keys() & _NO_SCHEMAS and all(
        isinstance(part, dict) or is_type(part) for part in declared.values()
    )


def _opened(standard: Schema) -> Schema:
    """Lets an `additionalProperties: false` beside a choice know the properties of the choice, as its author meant."""
    if standard.get("additionalProperties") is False and standard.keys() & {"anyOf", "oneOf", "allOf", "if", "then"}:
        standard = {**standard, "unevaluatedProperties": False}
        del standard["additionalProperties"]
        standard = _branches_opened(standard)
    return standard


def _branches_opened(schema: Schema) -> Schema:
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            branches = [
                {k: v for k, v in b.items() if (k, v) != ("additionalProperties", False)} for b in schema[keyword]
            ]
            schema = {**schema, keyword: branches}
    return schema


def _repaired(schema: Schema, notes: list[str]) -> Schema:
    """The schema without keywords whose value means nothing.

    Raises:
        DialectError: What is wrong cannot be left out.
    """
    for _ in range(MAX_REPAIRS):
        try:
            Draft202012Validator(schema, offline=True)
        except ValidationError as error:
            faulty = _faulty_keyword(schema, [*error.instance_path])
            if not faulty:
                raise DialectError(error.message[:200]) from None
            notes.append(f"{'.'.join(map(str, faulty))} was left out: {error.message[:120]}")
            schema = _cut(schema, faulty)
        else:
            return schema
    raise DialectError(f"more than {MAX_REPAIRS} of its keywords have a senseless value")


def _faulty_keyword(schema: Schema, path: list[Any]) -> list[Any]:
    """The part of the path down to the last keyword in it, so that cutting there leaves a schema; empty for none."""
    node: Any = schema
    faulty: list[Any] = []
    is_name = False
    for place, step in enumerate(path):
        if not isinstance(node, dict | list) or (isinstance(node, dict) and step not in node):
            return []
        if isinstance(node, dict) and not (is_name and place < len(path) - 1):
            faulty = path[: place + 1]  # a name counts only where it is itself what is wrong
        is_name = not is_name and step in NAMED
        node = node[step]
    return faulty


def _cut(value: Any, path: list[Any]) -> Any:
    step = path[0]
    if isinstance(value, list):
        return [_cut(part, path[1:]) if i == step else part for i, part in enumerate(value) if i != step or path[1:]]
    if not path[1:]:
        return {k: v for k, v in value.items() if k != step}
    return {k: _cut(v, path[1:]) if k == step else v for k, v in value.items()}


def _defaults(declared: object, check: Schema, user: Mapping[str, UserParameter]) -> dict[str, Any]:
    """Defaults are the tool's own business where it gives JSON Schema; the host keeps those it was told to."""
    filled = set(check["properties"]) if isinstance(declared, list) else set(user)
    parts = check["properties"].items()
    return {n: p["default"] for n, p in parts if n in filled and isinstance(p, dict) and p.get("default") is not None}


def _without(offered: Schema, names: set[str]) -> Schema:
    properties = {name: part for name, part in offered["properties"].items() if name not in names}
    required = [name for name in offered.get("required", []) if name not in names]
    return _tidy({"type": "object", **offered, "properties": properties, "required": required})


def _tidy(schema: Schema) -> Schema:
    """The schema with the definitions that it uses, and without an empty list of what is required."""
    used: set[str] = set()
    definitions = schema.get("$defs", {})
    ahead: list[Any] = [{k: v for k, v in schema.items() if k != "$defs"}]
    while ahead:
        node = ahead.pop()
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name in definitions and name not in used:
                used.add(name)
                ahead.append(definitions[name])
            ahead.extend(child for child, _ in children(node))
    tidy = {k: v for k, v in schema.items() if k not in {"$defs", "required"}}
    if schema.get("required"):
        tidy["required"] = schema["required"]
    if used:
        tidy["$defs"] = {name: part for name, part in definitions.items() if name in used}
    return tidy

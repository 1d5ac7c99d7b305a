"""Turns what other systems call a schema into plain JSON Schema 2020-12."""

from dataclasses import dataclass
from typing import Any

from enfilade.tools.schemas.declaration import in_json_schema, object_of
from enfilade.tools.schemas.fold import fold_all
from enfilade.tools.schemas.keywords import KNOWN, MANY, NAMED, ONE, Schema
from enfilade.tools.schemas.spelling import implied_types, of_older_drafts, typed, without_nulls
from enfilade.tools.schemas.type_names import SECRETS, UnknownTypeError, type_schema


class DialectError(ValueError):
    """A part of a schema has no meaning that could be kept; the text says which."""


@dataclass(frozen=True, slots=True)
class UserParameter:
    """A parameter that the user gives, in the agent's set-up, and the model never sees.

    Attributes:
        type: What the tool calls its type.
        required: Whether the tool cannot do without it.
        secret: Whether its value may stand in no log and no error.
    """

    type: str
    required: bool = False
    secret: bool = False


class Dialect:
    """Reads one tool's schema, its references already resolved.

    Attributes:
        user: The parameters at its top that only the user can give.
        notes: What was left out although it said something.
    """

    def __init__(self) -> None:
        self.user: dict[str, UserParameter] = {}
        self.notes: list[str] = []

    def top(self, schema: Schema) -> Schema:
        """The schema of a tool's arguments: an object, with `properties` and `required`.

        Raises:
            DialectError: It is of another type, or a part of it says nothing.
        """
        definitions = schema.get("$defs", {})
        top = {k: v for k, v in schema.items() if k not in {"$defs", "nullable", "x-nullable"}}
        top["properties"] = parts = _named_parts(top.get("properties"), "its parameters")
        if "object" in _names(top.get("type")):
            top["type"] = "object"
        standard = self._standard(top, "its parameters")
        if standard is None or not _may_be_object(standard):
            raise DialectError(f"its parameters are of type {top.get('type')!r}; expected an object")
        if standard.get("type") != "object":
            standard = fold_all({"type": "object", "properties": {}, "allOf": [standard]})
        self._find_users(parts, top)
        standard = {"properties": {}, **standard}
        standard["$defs"] = {name: self._standard(child, name) or {} for name, child in definitions.items()}
        standard["required"] = list(standard.get("required", []))
        for name in (*standard["required"], *self.user):
            standard["properties"].setdefault(name, {})
        return standard

    def _find_users(self, parts: Schema, top: Schema) -> None:
        required = _names(top.get("required"))
        for name, part in parts.items():
            declared = part if isinstance(part, dict) else {"type": part}
            unfillable = Dialect()._standard(part, name) is None  # noqa: SLF001 - its notes are not wanted twice
            if unfillable or declared.get("form") == "form":
                kind = str(declared.get("type", "any"))
                needed = name in required or declared.get("required") is True
                secret = kind.lower().replace("_", "-") in SECRETS or declared.get("format") == "password"
                self.user[name] = UserParameter(kind, needed and declared.get("default") is None, secret)

    def _standard(self, schema: Any, where: str) -> Schema | None:
        """The schema in standard words; None where only the user can give such a value."""
        if schema is None or isinstance(schema, bool):
            return {"not": {}} if schema is False else {}
        if isinstance(schema, str):
            schema = {"type": schema}
        if not isinstance(schema, dict):
            raise DialectError(f"{where} is the {type(schema).__name__} {str(schema)[:40]}; expected a schema")
        own = without_nulls(in_json_schema(schema))
        of_older_drafts(own)
        types = self._types(own.pop("type", None), where)
        standard = self._parts({k: v for k, v in own.items() if k in KNOWN}, where)
        if types is None or standard is None:
            return None
        standard = fold_all(standard)
        nullable = own.get("nullable") is True or own.get("x-nullable") is True
        if not types or {} in types:
            types = implied_types(standard)
        return fold_all(typed(standard, types, nullable=nullable))

    def _types(self, named: Any, where: str) -> list[Schema] | None:
        """A schema for each type there may be; None where all of them are only for the user."""
        names = named if isinstance(named, list) else [named]
        found = [self._type(name, where) for name in names if name is not None]
        kept = [kind for place, kind in enumerate(found) if kind is not None and kind not in found[:place]]
        return None if _only_null_is_left(found) else kept

    def _type(self, name: Any, where: str) -> Schema | None:
        if isinstance(name, dict):
            return self._standard(name, where)
        try:
            return type_schema(name if isinstance(name, str) else repr(name))
        except UnknownTypeError:
            self.notes.append(f"{where} has the type {str(name)[:40]!r}, which is unknown; anything is allowed there")
            return {}

    def _parts(self, schema: Schema, where: str) -> Schema | None:
        """The schemas that a schema holds, in standard words; None where only the user can give one it needs."""
        standard: Schema = {}
        for keyword, value in schema.items():
            part = value
            if keyword in {"properties", "required"}:
                continue
            if keyword in NAMED:
                named = _named_parts(value, where)
                part = {name: self._standard(child, f"{where}.{name}") or {} for name, child in named.items()}
            elif keyword in MANY:
                part = self._branches(value, keyword, where)
            elif keyword in ONE and not isinstance(value, bool):
                part = self._standard(value, f"{where}.{keyword}")
                if part is None and keyword != "items":
                    continue
            if part is None and keyword in MANY | {"items"}:
                return None
            standard[keyword] = part
        self._properties(standard, schema, where)
        return standard

    def _properties(self, standard: Schema, schema: Schema, where: str) -> None:
        required = _names(schema.get("required"))
        if "properties" in schema:
            parts = _named_parts(schema["properties"], where)
            read = {name: self._standard(part, _place(where, name)) for name, part in parts.items()}
            standard["properties"] = {n: part for n, part in read.items() if part is not None and part != {"not": {}}}
            required += [n for n, part in parts.items() if isinstance(part, dict) and part.get("required") is True]
            required = [name for name in required if name not in read or name in standard["properties"]]
        if required:
            standard["required"] = list(dict.fromkeys(required))

    def _branches(self, value: Any, keyword: str, where: str) -> list[Schema] | None:
        if not isinstance(value, list):
            raise DialectError(f"{where} has {keyword} without a list of schemas")
        branches = [self._standard(branch, where) for branch in value]
        kept = [branch for branch in branches if branch is not None]
        complete = len(kept) == len(branches) or keyword in {"anyOf", "oneOf"}
        return kept if complete and not _only_null_is_left(branches) else None


def _only_null_is_left(schemas: list[Schema | None]) -> bool:
    """Whether some of these are only for the user and a model could give no more than null."""
    return None in schemas and all(schema in (None, {"type": "null"}) for schema in schemas)


def _place(where: str, name: str) -> str:
    return f"parameter {name!r}" if where == "its parameters" else f"{where}.{name}"


def _named_parts(value: Any, where: str) -> Schema:
    if value is None:
        return {}
    if isinstance(value, list):
        try:
            return dict(object_of(value)["properties"])
        except ValueError as error:
            raise DialectError(f"{where}: {error}") from None
    if not isinstance(value, dict):
        raise DialectError(
            f"the properties of {where} are {type(value).__name__} {str(value)[:40]!r}; expected an object"
        )
    return value


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _may_be_object(standard: Schema) -> bool:
    if standard.get("type", "object") != "object":
        return False
    return all(
        any(_may_be_object(branch) for branch in standard[keyword])
        for keyword in ("anyOf", "oneOf")
        if keyword in standard
    )

"""Names of types: what other systems write, and what JSON Schema calls it."""

import re

from enfilade.tools.schemas.keywords import TYPES, Schema

_PLAIN = {
    "string": "str text char varchar text-input paragraph textarea password-text enum binary bytes byte blob",
    "integer": "int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short bigint whole",
    "number": "float double decimal float32 float64 real numeric num",
    "boolean": "bool checkbox switch toggle",
    "array": "list tuple set sequence collection frozenset",
    "object": "dict map mapping struct record json hash dictionary",
    "null": "none nonetype nil void undefined",
}
_FORMATS = {"date": "date", "datetime": "date-time", "date-time": "date-time", "time": "time", "uuid": "uuid"} | {
    "email": "email",
    "uri": "uri",
    "url": "uri",
}
_ANYTHING = frozenset({"any", "mixed", "unknown", "*", "jsonvalue"})

CHOICES = frozenset({"select", "dynamic-select", "radio", "dropdown", "choice"})
"""Host-level types whose value is one of `options`."""

SECRETS = frozenset({"secret-input", "secret", "password", "api-key"})
"""Host-level types whose value is a secret of the user's."""

UNFILLABLE = SECRETS | frozenset(
    [
        "file",
        "files",
        "system-files",
        "image",
        "audio",
        "video",
        "document",
        "model-selector",
        "app-selector",
        "tools-selector",
        "tools",
        "dataset-selector",
        "tool-selector",
        "oauth",
    ]
)
"""Host-level types that only the user can give a value, never a model."""

_STANDARD = {alias: name for name, aliases in _PLAIN.items() for alias in aliases.split()} | {n: n for n in TYPES}
_LIST = re.compile(r"(?:array|list|set|sequence|tuple)\s*[\[<(]\s*(.+?)\s*[\])>]\Z|(.+)\[\]\Z")
_OPTIONAL = re.compile(r"optional\s*[\[<(]\s*(.+?)\s*[\])>]\Z")


class UnknownTypeError(ValueError):
    """A type's name that says nothing to us."""


def type_schema(name: str) -> Schema | None:
    """The schema a type's name stands for; None where only the user can give such a value.

    Raises:
        UnknownTypeError: No such type is known.
    """
    word = name.strip().lower().replace("_", "-").removeprefix("typing.")
    if word in UNFILLABLE:
        return None
    if word in _STANDARD:
        return {"type": _STANDARD[word]}
    if word in _FORMATS:
        return {"type": "string", "format": _FORMATS[word]}
    if word in _ANYTHING:
        return {}
    if word in CHOICES:
        return {"type": "string"}
    return _composed(word, name)


def _composed(word: str, name: str) -> Schema | None:
    if match := _OPTIONAL.match(word):
        return _union([match[1], "null"])
    if match := _LIST.match(word):
        items = type_schema(match[1] or match[2])
        return None if items is None else {"type": "array", "items": items}
    if "|" in word:
        return _union(word.split("|"))
    raise UnknownTypeError(name)


def _union(names: list[str]) -> Schema | None:
    found = [schema for schema in map(type_schema, names) if schema is not None]
    if len(found) < 2:  # noqa: PLR2004 - a union has two sides
        return found[0] if found else None
    return {"anyOf": found}


def is_type(name: object) -> bool:
    """Whether it is the name of a type that we know."""
    if not isinstance(name, str):
        return False
    try:
        type_schema(name)
    except UnknownTypeError:
        return False
    return True

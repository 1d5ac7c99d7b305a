"""Host-level parameters (choice lists, limits, files, secrets) in the words of JSON Schema."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from enfilade.tools.schemas.keywords import Schema
from enfilade.tools.schemas.type_names import CHOICES

_WORDS = ("description", "llm_description", "human_description", "help", "label")


def object_of(parameters: list[Any]) -> Schema:
    """The object schema of a list of parameter declarations, each a dict with `name` and `type`.

    Raises:
        ValueError: One of them is no such dict, or two have one name.
    """
    properties: Schema = {}
    for place, parameter in enumerate(parameters):
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if not isinstance(name, str) or not name:
            raise ValueError(f"parameter {place + 1} is not a dict with a 'name' and a 'type'")
        if name in properties:
            raise ValueError(f"two parameters are named {name!r}")
        properties[name] = {k: v for k, v in parameter.items() if k != "name"}
    return {"type": "object", "properties": properties}


def in_json_schema(declared: Schema) -> Schema:
    """A schema with its host-level keys (`options`, `min`, `max`, `precision`, `multiple`, `help`...) translated."""
    schema = dict(declared)
    if words := _description(declared):
        schema["description"] = words
    else:
        schema.pop("description", None)
    _limits(schema)
    options = schema.pop("options", None)
    if isinstance(options, list | dict) and options and "enum" not in schema:
        schema["enum"] = [_option(option) for option in options]
        if _name(schema) in CHOICES and not all(isinstance(value, str) for value in schema["enum"]):
            del schema["type"]
    if schema.pop("multiple", False) is True and _name(schema) in CHOICES | {"string", "", "number"}:
        item = {k: v for k, v in schema.items() if k in {"type", "enum", "minimum", "maximum", "multipleOf"}}
        schema = {k: v for k, v in schema.items() if k not in item} | {"type": "array", "items": item}
    return schema


def _name(schema: Schema) -> str:
    name = schema.get("type", "")
    return name.lower() if isinstance(name, str) else "?"


def _description(declared: Mapping[str, Any]) -> str:
    for key in _WORDS:
        if words := in_one_language(declared.get(key)):
            return words
    return ""


def in_one_language(words: Any) -> str:
    """A text, or the English (else the first) one of a dict of languages; empty where there is none."""
    if isinstance(words, dict):
        texts = {str(k).lower(): v for k, v in words.items() if isinstance(v, str) and v}
        english = [v for k, v in texts.items() if k.startswith("en")]
        return next(iter(english or texts.values()), "")
    return words if isinstance(words, str) else ""


def _option(option: Any) -> Any:
    return option["value"] if isinstance(option, dict) and "value" in option else option


def _limits(schema: Schema) -> None:
    for ours, theirs in (("min", "minimum"), ("max", "maximum")):
        limit = number(schema.pop(ours, None))
        if limit is not None:
            schema.setdefault(theirs, limit)
    precision = schema.pop("precision", None)
    if not isinstance(precision, int) or isinstance(precision, bool) or precision < 0:
        return
    if precision == 0 and _name(schema) == "number":
        schema["type"] = "integer"
    elif precision:
        schema.setdefault("multipleOf", float(f"1e-{min(precision, 15)}"))


def number(value: Any) -> int | float | None:
    """A number, also one written as a text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    try:
        read = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if read is None or not isfinite(read):
        return None
    return int(read) if read.is_integer() else read

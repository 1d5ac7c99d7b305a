"""Writes values into addresses, headers and forms, in the styles that OpenAPI knows."""

import json
from typing import Any
from urllib.parse import quote

from enfilade.tools.json_value import compact_json
from enfilade.tools.openapi.operation import Parameter

_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}
_PREFIXES = {"label": ".", "matrix": ";"}


def plain(value: Any) -> str:
    """A single value as a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, int | float) else compact_json(value)


def in_path(parameter: Parameter, value: Any) -> str:
    """A value as a part of a path, everything in it escaped."""
    if parameter.as_json:
        return _escaped(compact_json(value))
    if parameter.style == "matrix":
        return _matrix(parameter, value)
    separator = "." if parameter.style == "label" and parameter.explode else ","
    return _PREFIXES.get(parameter.style, "") + _joined(value, separator, explode=parameter.explode)


def in_query(parameter: Parameter, value: Any) -> list[tuple[str, str]]:
    """A value as parts of a query, not escaped yet."""
    name = parameter.name
    if parameter.as_json:
        return [(name, compact_json(value))]
    if isinstance(value, list):
        if parameter.explode and parameter.style == "form":
            return [(name, plain(part)) for part in value]
        return [(name, _SEPARATORS.get(parameter.style, ",").join(map(plain, value)))] if value else []
    if isinstance(value, dict):
        if parameter.style == "deepObject":
            return _deep(name, value)
        if parameter.explode:
            return [(str(key), plain(part)) for key, part in value.items()]
        return [(name, ",".join(f"{key},{plain(part)}" for key, part in value.items()))]
    return [] if value is None else [(name, plain(value))]


def in_header(parameter: Parameter, value: Any) -> str:
    """A value as a header or cookie."""
    if parameter.as_json:
        return compact_json(value)
    if isinstance(value, list):
        return ",".join(map(plain, value))
    if isinstance(value, dict):
        sign = "=" if parameter.explode else ","
        return ",".join(f"{key}{sign}{plain(part)}" for key, part in value.items())
    return plain(value)


def in_form(key: str, value: Any) -> list[tuple[str, str]]:
    """A field of a form: lists are repeated, objects are JSON."""
    if isinstance(value, list):
        return [(key, plain(part)) for part in value]
    return [] if value is None else [(key, plain(value))]


def _deep(name: str, value: dict[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for key, part in value.items():
        inner = f"{name}[{key}]"
        if isinstance(part, dict):
            pairs += _deep(inner, part)
        elif isinstance(part, list):
            pairs += [(inner, plain(one)) for one in part]
        else:
            pairs.append((inner, plain(part)))
    return pairs


def _matrix(parameter: Parameter, value: Any) -> str:
    name = _escaped(parameter.name)
    if isinstance(value, dict) and parameter.explode:
        return "".join(f";{_escaped(str(key))}={_escaped(plain(part))}" for key, part in value.items())
    if isinstance(value, list) and parameter.explode:
        return "".join(f";{name}={_escaped(plain(part))}" for part in value)
    return f";{name}={_joined(value, ',', explode=False)}"


def _joined(value: Any, separator: str, *, explode: bool) -> str:
    if isinstance(value, list):
        return separator.join(_escaped(plain(part)) for part in value)
    if isinstance(value, dict):
        sign = "=" if explode else ","
        return separator.join(f"{_escaped(str(key))}{sign}{_escaped(plain(part))}" for key, part in value.items())
    return _escaped(plain(value))


def _escaped(text: str) -> str:
    return quote(text, safe="")

"""JSON values: an independent copy made of plain parts, and compact text."""

import json
from collections.abc import Mapping
from enum import Enum
from math import isfinite
from typing import Any, Literal

import orjson

MAX_DEPTH = 100
"""Levels of nesting; a value that holds itself passes any bound, so this also ends it."""

MAX_NODES = 500_000
"""Values in one tree; what is larger is no schema and no set of arguments."""


class NotJsonError(ValueError):
    """A value is not JSON; the text says where and why."""


def json_copy(value: object, *, infinite: Literal["refuse", "null"] = "refuse") -> Any:
    """Copies a value into plain dicts, lists, strings, numbers, booleans and None.

    Mappings become dicts, tuples and sets lists, members of an `Enum` their values; lone surrogates in texts become
    U+FFFD. The value itself is never changed and shares no part with the copy.

    Args:
        value: Any value.
        infinite: What becomes of numbers that are not finite.

    Raises:
        NotJsonError: A part is not JSON, or the value is nested too deeply or too large.
    """
    return _Copy(infinite).of(value, "$", 0)


class _Copy:
    def __init__(self, infinite: str) -> None:
        self._nodes = 0
        self._infinite = infinite

    def of(self, value: object, where: str, depth: int) -> Any:
        self._nodes += 1
        if depth > MAX_DEPTH:
            raise NotJsonError(f"it is nested more than {MAX_DEPTH} levels deep (or holds itself)")
        if self._nodes > MAX_NODES:
            raise NotJsonError(f"it holds more than {MAX_NODES} values")
        if isinstance(value, Enum):
            value = value.value
        if isinstance(value, str):
            return clean_text(value)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return self._number(value, where)
        if isinstance(value, Mapping):
            return {self._key(k, where): self.of(v, f"{where}.{k}", depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.of(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
        raise NotJsonError(f"{where} holds a {type(value).__name__}, which is not JSON")

    def _number(self, value: float, where: str) -> float | None:
        if not isfinite(value):
            if self._infinite == "null":
                return None
            raise NotJsonError(f"{where} is {value}, which is not a JSON number")
        return value

    def _key(self, key: object, where: str) -> str:
        if isinstance(key, Enum):
            key = key.value
        if not isinstance(key, str):
            raise NotJsonError(f"{where} has the key {key!r}; the keys of a JSON object are strings")
        return clean_text(key)


def clean_text(text: str) -> str:
    """The text with lone surrogates, which no UTF-8 can hold, replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def compact_json(value: object) -> str:
    """Compact JSON text of a JSON value; numbers that are not finite become null, as in JavaScript."""
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, RecursionError):  # integers above 64 bits, for one
        return json.dumps(json_copy(value, infinite="null"), ensure_ascii=False, separators=(",", ":"))


def read_json(text: str) -> Any:
    """Reads JSON strictly, integers of any size exactly.

    Raises:
        ValueError: It is not JSON; the text says where it breaks off.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")

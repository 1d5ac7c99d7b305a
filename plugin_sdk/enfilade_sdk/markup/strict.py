"""JSON as the standard has it: no NaN, no Infinity, no number that is too large for a float."""

import json
import math
from typing import Any


def strict_value(text: str) -> Any:
    """The value of a JSON text; integers of any size stay whole.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deeply.
    """
    return DECODER.decode(text)


def parse_object(text: str) -> dict[str, Any] | None:
    """The object that strict JSON text holds; None when it is anything else."""
    try:
        value = strict_value(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_unterminated(text: str) -> bool:
    """Whether text ends inside a string or bracket of the JSON, or Python literal, that it seems to hold."""
    return _scanned(text, first=False) != 0


def value_end(text: str) -> int:
    """Where the bracket is closed that the text, JSON or a Python literal, opens with; 0 when it never is."""
    return max(0, _scanned(text, first=True))


def _scanned(text: str, *, first: bool) -> int:
    """Follows strings and brackets: -1 when the text ends inside of one, else 0; with `first`, where the first ends."""
    depth, quote, escaped, before = 0, "", False, ""
    for at, char in enumerate(text):
        if quote:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quote:
                quote, before = "", char
        elif char in "\"'" and before in ("", "{", "[", ",", ":"):
            quote = char
        elif not char.isspace():
            depth += (char in "{[") - (char in "}]")
            before = char
            if first and depth <= 0:
                return at + 1
    return -1 if quote or depth > 0 else 0


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text} is too large")
    return number


DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)

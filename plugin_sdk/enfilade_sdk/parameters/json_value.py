"""Values that JSON can carry: told from others, and copied."""

import math
from typing import Any

from enfilade_sdk.parameters.fault import kind_of

DEPTH = 100
"""How deep lists and objects may be nested; JSON readers along the way give up at some hundreds."""

_WIDEST = 1024  # bits, the range of a double; Python itself refuses to write integers above some 14,000


def not_json(value: object, depth: int = DEPTH) -> str | None:
    """Says what keeps a value from being JSON, or None when nothing does.

    The wire is JSON in UTF-8: numbers must be finite, integers of a length that readers take, keys texts, texts without
    lone surrogates, the nesting bounded (which also ends values that hold themselves).
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if value.bit_length() <= _WIDEST else "an integer of more digits than JSON readers take"
    if isinstance(value, str):
        return None if is_unicode(value) else "a text with half a surrogate pair, which UTF-8 cannot carry"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"the number {value!r}, which JSON cannot carry"
    if isinstance(value, list | dict) and depth == 0:
        return f"a nesting of more than {DEPTH} levels"
    if isinstance(value, list):
        return next(filter(None, (not_json(item, depth - 1) for item in value)), None)
    if isinstance(value, dict):
        return _not_json_object(value, depth)
    return f"{kind_of(value)}, which JSON cannot carry"


def _not_json_object(value: dict[Any, Any], depth: int) -> str | None:
    for key, item in value.items():
        if not isinstance(key, str):
            return f"an object with {kind_of(key)} for a key, where JSON has only texts"
        if fault := (not_json(key) or not_json(item, depth - 1)):
            return fault
    return None


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can carry a text: it holds no half of a surrogate pair."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def copied(value: Any) -> Any:
    """A copy of a JSON value that shares no list and no object with it."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value

"""Texts and JSON values as every database takes them, and back without loss.

PostgreSQL takes no NUL character, and no database takes half a surrogate pair; tools and models write both.
"""

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from enfilade_sdk.parameters.json_value import is_unicode

MARK = "\x01json:"
"""Before a text that is kept as a JSON string."""

DEEPEST = 200
"""How deep a value may be nested; of a deeper one only its kind is kept."""


def stored_text(text: str) -> str:
    """The text as it is kept."""
    plain = "\0" not in text and not text.startswith(MARK) and is_unicode(text)
    return text if plain else MARK + json.dumps(text)


def loaded_text(text: str) -> str:
    """The text that was kept."""
    return str(json.loads(text.removeprefix(MARK))) if text.startswith(MARK) else text


def stored_json(value: Any) -> str:
    """The value as JSON text in plain characters; what JSON cannot carry stands there as its text."""
    try:
        return to_json(value, serialize_unknown=True, inf_nan_mode="strings").decode()
    except (PydanticSerializationError, ValueError, RecursionError):
        return _stubborn(value)


def loaded_json(text: str | None) -> Any:
    """The value that was kept; None for none."""
    return None if text is None else json.loads(text)


def _stubborn(value: Any) -> str:
    if _is_deeper(value, DEEPEST):
        return json.dumps({"not_recorded": type(value).__name__})
    plain = json.loads(json.dumps(value, default=str, skipkeys=True), parse_constant=str)  # NaN becomes a text
    return json.dumps(plain)


def _is_deeper(value: Any, levels: int) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return levels == 0 or any(_is_deeper(part, levels - 1) for part in parts)

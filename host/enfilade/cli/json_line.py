"""Values as lines of JSON that every reader takes."""

import json
import math
from typing import Any

LINE_ENDS = str.maketrans({code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)})
"""Characters that are no line ends to JSON and are to readers that split by Unicode's rules."""


def json_line(value: Any) -> bytes:
    """One line of JSON, UTF-8, whatever a reader takes for the end of a line.

    What JSON has no word for (NaN, infinity) is null, a lone surrogate is escaped, any other object is its text.
    """
    return json_text(value).translate(LINE_ENDS).encode() + b"\n"


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON text; see `json_line`."""
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators, default=str)
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, indent=indent, separators=separators, default=str)
    except ValueError:
        return json_text(_finite(value), indent=indent)
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value

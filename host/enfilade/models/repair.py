"""Mends text that was meant to be a JSON object, where the mending loses and invents nothing."""

import json
import re
from typing import Any, Literal

from enfilade_sdk.markup.strict import is_unterminated

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n?(.*?)\s*```\s*\Z", re.DOTALL)
_TAIL = re.compile(r"(?:\s|<\|[^|<>]{1,40}\|>|</?s>|</?tool_call>)+\Z")
_SIGNIFICANT = re.compile(r"[^\W_]|[-.]")
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\[nrtbf]")
_NONE = re.compile(r"none")
_KNOWN = frozenset('"\\/bfnrt')
_BACKSLASHED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MENDABLE = 8 * 2**10
"""Characters up to which text is mended: json-repair takes quadratic time for some (0.3 s for 8 KiB, 13 s for 56)."""


def mended_object(text: str) -> dict[str, Any] | Literal["cut"] | None:
    """The object that near-JSON means; `cut` when the text ends inside of it, None when it cannot be told.

    Mended are raw line breaks and backslashes in strings, quoting, commas, Python's words, fences and end tokens around
    the object. A result counts only when it holds the letters and digits of the text, all of them and in their order.
    """
    body = _TAIL.sub("", text)
    if (fenced := _FENCE.match(body)) is not None:
        body = fenced[1]
    body = body.strip()
    if not body.startswith("{"):
        return None
    if is_unterminated(body):
        return "cut"
    if (relaxed := _relaxed(body)) is not None:
        return relaxed
    if _is_raw(body):
        return None
    relaxed = _relaxed(_BACKSLASHED.sub(_escaped, body))
    return _repaired(body) if relaxed is None else relaxed


def _relaxed(body: str) -> dict[str, Any] | None:
    """The object, where raw line breaks in strings are all that is wrong."""
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _escaped(found: re.Match[str]) -> str:
    """A backslash that JSON does not know stands for itself, save before an apostrophe."""
    char = found[1]
    if char == "'":
        return char
    return found[0] if char in _KNOWN or len(char) > 1 else "\\" + found[0]


def _repaired(body: str) -> dict[str, Any] | None:
    import json_repair

    if len(body) > _MENDABLE or not _quotes_pair(body):
        return None
    try:
        value = json_repair.loads(body, skip_json_loads=True)
        if not isinstance(value, dict):
            return None
        dumped = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return value if _essence(dumped) == _essence(body) else None


def _is_raw(body: str) -> bool:
    """Whether some backslash is no escape, as in a path of Windows or in TeX, so that none of them may be one."""
    after = {found[1] for found in _BACKSLASHED.finditer(body)}
    unknown = {char for char in after if len(char) == 1 and char.isalpha() and char not in "nrtbf"}
    return bool(unknown) and not after.isdisjoint("nrtbf")


def _quotes_pair(body: str) -> bool:
    """Whether the kind of quote that comes first comes an even number of times; else a string's end is a guess."""
    plain = re.sub(r"\\.", "", body, flags=re.DOTALL)
    first = next((char for char in plain if char in "\"'"), "")
    return not first or plain.count(first) % 2 == 0


def _essence(text: str) -> str:
    """The letters, digits, points and signs of a text, whatever way it is quoted and escaped."""
    plain = _UNICODE.sub(lambda found: chr(int(found[1], 16)), text)
    kept = "".join(_SIGNIFICANT.findall(_ESCAPE.sub(" ", plain)))
    return _NONE.sub("null", kept.lower())

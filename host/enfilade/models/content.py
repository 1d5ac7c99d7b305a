"""Text and thought of a message, in whatever form a provider writes them."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
"""Fields that providers put thought into, in the order in which they are believed; one is taken, never two."""

_THOUGHT_TYPES = ("thinking", "reasoning", "thought", "reasoning.text", "reasoning.summary")
_TEXT_KEYS = ("text", "content", "thinking", "reasoning", "summary", "output_text", "refusal")
_DEPTH = 4


class Content(NamedTuple):
    """Text for the user, and thought."""

    text: str = ""
    reasoning: str = ""


def content_of(raw: Any) -> Content:
    """Reads `content`: text, a list of parts (of text, of thought, or plain strings), or nothing."""
    if isinstance(raw, str):
        return Content(raw)
    parts = raw if isinstance(raw, list) else [raw]
    text = "".join(plain_text(part) for part in parts if not _is_thought(part))
    return Content(text, "".join(plain_text(part) for part in parts if _is_thought(part)))


def reasoning_of(message: Mapping[str, Any]) -> tuple[str, str]:
    """The thought of a message or delta, and the field it came in; both empty when there is none."""
    for field in REASONING_FIELDS:
        raw = message.get(field)
        if raw and (text := plain_text(raw)):
            return text, field
    return "", ""


def plain_text(raw: Any, depth: int = _DEPTH) -> str:
    """The text in a part, however it is wrapped."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return str(raw)
    if isinstance(raw, list) and depth:
        return "".join(plain_text(part, depth - 1) for part in raw)
    if isinstance(raw, dict) and depth:
        return next((text for key in _TEXT_KEYS if (text := plain_text(raw.get(key), depth - 1))), "")
    return ""


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _THOUGHT_TYPES

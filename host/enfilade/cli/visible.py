"""Text from models, tools and plugins made harmless for a terminal."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile(r"\s+")


def visible(text: str) -> str:
    """The text with control characters (escape sequences, overrides of direction) written out; lines and tabs stay."""
    return _CONTROL.sub(_written_out, text.replace("\r\n", "\n"))


def in_one_line(text: str, width: int) -> str:
    """The text in one line of at most `width` characters; what was cut is marked."""
    line = visible(_SPACE.sub(" ", text[: 4 * width + 4]).strip())
    return line if len(line) <= width and len(text) <= 4 * width + 4 else line[: max(1, width - 3)] + "..."


def _written_out(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")

"""Backslash escapes inside strings, read as they arrive."""

import re

_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_HEX = {"u": 4, "x": 2}
_DIGITS = re.compile("[0-9a-fA-F]*")
_LOW_START = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z|\Z")
_LOW = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")

_HIGH = range(0xD800, 0xDC00)
_LOWER = range(0xDC00, 0xE000)

LOST = "\ufffd"
"""Stands for half of a surrogate pair, which no encoding can carry."""


def unescape(text: str, at: int, *, eof: bool) -> tuple[str, int] | None:
    r"""Reads the escape that starts at `at`.

    What is no escape stays as it is, backslash included (`\d` in a pattern, `\` at the end of a shell line).

    Args:
        text: The text; it may go on later, unless `eof`.
        at: Where the backslash is.
        eof: Whether the text is complete.

    Returns:
        What it stands for and where it ends, or None while more text is needed.
    """
    if at + 1 >= len(text):
        return ("\\", at + 1) if eof else None
    letter = text[at + 1]
    if letter in _HEX:
        return _code(text, at, _HEX[letter], eof=eof)
    return _SIMPLE.get(letter, "\\" + letter), at + 2


def _code(text: str, at: int, length: int, *, eof: bool) -> tuple[str, int] | None:
    found = _DIGITS.match(text, at + 2, at + 2 + length)
    end = found.end() if found else at + 2
    if end < at + 2 + length:
        waiting = end == len(text) and not eof
        return None if waiting else (text[at : at + 2], at + 2)
    code = int(text[at + 2 : end], 16)
    if code in _HIGH:
        return _pair(text, code, end, eof=eof)
    return (LOST if code in _LOWER else chr(code)), end


def _pair(text: str, high: int, end: int, *, eof: bool) -> tuple[str, int] | None:
    low = _LOW.match(text, end)
    if low:
        return chr(0x10000 + ((high - _HIGH.start) << 10) + (int(low[1], 16) - _LOWER.start)), low.end()
    if not eof and _LOW_START.match(text, end):
        return None
    return LOST, end

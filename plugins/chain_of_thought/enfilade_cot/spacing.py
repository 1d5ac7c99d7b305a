"""White space as models write it: with no-break and zero-width characters among the blanks."""

import re

BREAKS = "\n\r"
"""What ends a line."""

GAPS = "\t\x0b\x0c\x85 \xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
"""The inside of a character class: white space within a line, the byte-order mark and zero-width blanks included.

Zero-width joiners are not among them: they hold emoji together.
"""

GAP = f"[{GAPS}]"
SPACE = f"[{GAPS}{BREAKS}]"

INDENT_LIMIT = 64
"""Blanks before the first character of a line; what stands further in is no label, fence or object."""

INDENT = re.compile(f"{GAP}{{0,{INDENT_LIMIT + 1}}}")
GAP_RUN = re.compile(f"{GAP}*")
SPACE_RUN = re.compile(f"{SPACE}*")
BLANK_LINES = re.compile(f"(?:{GAP}{{0,{INDENT_LIMIT}}}[{BREAKS}])+")
LINE_BREAK = re.compile(f"[{BREAKS}]")

WHITE = (
    "\t\n\x0b\x0c\r\x85 \xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200C)))
    + "\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
"""All of them, line breaks included, one by one."""

_NO_BLANK = frozenset(map(chr, range(0x21, 0x7F)))


def trim(text: str) -> str:
    """The text without white space at its ends."""
    return text.strip(WHITE)


def trim_end(text: str) -> str:
    """The text without white space at its end."""
    return text.rstrip(WHITE)


def trim_start(text: str) -> str:
    """The text without white space at its start."""
    return text.lstrip(WHITE)


def indent_end(text: str, at: int) -> int:
    """Where the blanks at `at` end; one more than `INDENT_LIMIT` are counted at most."""
    if text[at : at + 1] in _NO_BLANK:  # most lines: no need for a pattern
        return at
    return _end(INDENT.match(text, at), at)


def gap_end(text: str, at: int) -> int:
    """Where the blanks at `at` end."""
    return _end(GAP_RUN.match(text, at), at)


def space_end(text: str, at: int, most: int | None = None) -> int:
    """Where the white space at `at` ends, line breaks included; `most` characters of it are looked at."""
    return _end(SPACE_RUN.match(text, at) if most is None else SPACE_RUN.match(text, at, at + most), at)


def _end(found: re.Match[str] | None, at: int) -> int:
    return found.end() if found else at


def width(indent: str) -> int:
    """Columns of an indentation; a tab counts four."""
    return len(indent) + 3 * indent.count("\t")

"""The lines that open and close code blocks."""

import re
from functools import cache

from enfilade_cot.labels import Hold
from enfilade_cot.spacing import BREAKS, GAP, indent_end, trim
from enfilade_cot.turns import Fence

LONGEST = 16
"""Fence characters in a row; a longer row is text."""

_ROW = re.compile(f"`{{1,{LONGEST + 1}}}|~{{1,{LONGEST + 1}}}")
_INFO = {"`": re.compile(f"[^`{BREAKS}]{{0,80}}"), "~": re.compile(f"[^{BREAKS}]{{0,80}}")}
_SHORTEST = 3


def opening(text: str, at: int, *, eof: bool) -> tuple[Fence, int] | Hold | None:
    """Reads the opening line of a code block, indented or not.

    Args:
        text: The text; it may go on later, unless `eof`.
        at: Where the line starts.
        eof: Whether the text is complete.

    Returns:
        The fence and where its content starts; None where there is none; `Hold.MORE` while there could be one.
    """
    start = indent_end(text, at)
    row = _ROW.match(text, start)
    if row is None:
        return Hold.MORE if start == len(text) and not eof else None
    length = row.end() - row.start()
    if row.end() == len(text) and length <= LONGEST and not eof:
        return Hold.MORE
    if not _SHORTEST <= length <= LONGEST:
        return None
    info = _INFO[text[start]].match(text, row.end())
    end = info.end() if info else row.end()
    if end == len(text):
        return None if eof else Hold.MORE
    if text[end] not in BREAKS:
        return None
    return Fence(text[start], length, trim(text[row.end() : end]).lower()), end + 1


def closing(fence: Fence, text: str, at: int, *, eof: bool) -> int | Hold | None:
    """Reads the closing line of a code block; gives where it ends, before its line break."""
    found = _closing(fence.char, fence.length).match(text, at)
    if found is None:
        partial = not eof and _closing_start(fence.char, fence.length).match(text, at)
        return Hold.MORE if partial else None
    if found.end() == len(text):
        return found.end() if eof else Hold.MORE
    return found.end() if text[found.end()] in BREAKS else None


@cache
def _closing(char: str, length: int) -> re.Pattern[str]:
    return re.compile(f"{GAP}{{0,12}}{char}{{{length},{LONGEST}}}{GAP}{{0,8}}")


@cache
def _closing_start(char: str, length: int) -> re.Pattern[str]:
    return re.compile(rf"{GAP}{{0,12}}{char}{{0,{length}}}\Z")

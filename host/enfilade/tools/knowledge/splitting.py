"""From blocks to the parts that are found."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from enfilade.tools.knowledge.block import Block

VERSION = 1
"""Counts up when the same document comes to other parts, so that it is taken in anew."""

_ENDS = (
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"\n"),
    re.compile("[.!?][\"')\\]\u201d\u2019]?\\s|[\u3002\uff01\uff1f\uff1b]"),
    re.compile("\\s|[,;\uff0c\u3001]"),
)
"""Where a text may be cut, the best places first."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document.

    Attributes:
        text: Its text.
        heading: The headings that it stands under, as one text.
        page: The page that it stands on, in documents that have pages.
    """

    text: str
    heading: str = ""
    page: int | None = None


def parts_of(blocks: Sequence[Block], size: int) -> list[Part]:
    """Joins what stands together, and cuts what is too long.

    Blocks of one section (and one page) fill a part up to its size; a longer block is cut where a paragraph, a line, a
    sentence or a word ends. Apart from white space at the cuts, every character of the blocks is in exactly one part.

    Args:
        blocks: The blocks of a document.
        size: Characters of a part.
    """
    parts: list[Part] = []
    for block in blocks:
        last = parts[-1] if parts else None
        is_near = last is not None and (last.heading, last.page) == (block.heading, block.page)
        if last is not None and is_near and len(last.text) + len(block.text) + 2 <= size:
            parts[-1] = Part(f"{last.text}\n\n{block.text}", block.heading, block.page)
        else:
            parts += [Part(piece, block.heading, block.page) for piece in _pieces(block.text, size)]
    return parts


def _pieces(text: str, size: int) -> Iterator[str]:
    at = 0
    while len(text) - at > size:
        end = _end(text, at, size)
        if (piece := text[at:end].strip("\n").rstrip()).strip():
            yield piece
        at = end
    if (rest := text[at:].strip("\n").rstrip()).strip():
        yield rest


def _end(text: str, at: int, size: int) -> int:
    """Where the piece that begins at a place ends: at the last good place in its second half."""
    for ends in _ENDS:
        found = [match.end() for match in ends.finditer(text, at + size // 2, at + size)]
        if found:
            return found[-1]
    return at + size

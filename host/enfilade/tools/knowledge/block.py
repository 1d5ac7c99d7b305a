"""What readers of documents give: blocks of text under their headings."""

from collections.abc import Sequence
from dataclasses import dataclass

SEPARATOR = " > "
"""Between the headings of a path."""

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, table, piece of code: what had better stay together.

    Attributes:
        text: The text; never blank.
        heading: The headings that it stands under, the outermost first, as one text; empty where there are none.
        page: The page, from 1, in documents that have pages.
    """

    text: str
    heading: str = ""
    page: int | None = None


class Outline:
    """Gathers blocks while the headings pass. A heading with nothing under it is a block, so that it is found."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._is_bare = False

    def title(self, text: str) -> None:
        """Says what the document is called; that stands for a heading of the outermost level until there is one."""
        title = _line(text)
        if title and not self._path:
            self._path.append((1, title))

    def heading(self, level: int, text: str) -> None:
        """Begins a section of a level; 1 is the outermost."""
        title = _line(text)
        if not title:
            return
        if not self._path or level <= self._path[-1][0]:
            self._keep_bare()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, title))
        self._is_bare = True

    def text(self, text: str, page: int | None = None) -> None:
        """Adds a block; a blank one is passed over."""
        if text.strip():
            self._is_bare = False
            self.blocks.append(Block(text.strip("\n").rstrip(), self._heading(), page))

    def end(self) -> list[Block]:
        """All blocks."""
        self._keep_bare()
        return self.blocks

    def _keep_bare(self) -> None:
        if self._is_bare and self._path:
            self.blocks.append(Block(self._path[-1][1], _joined(self._path[:-1])))
        self._is_bare = False

    def _heading(self) -> str:
        return _joined(self._path)


def _joined(path: Sequence[tuple[int, str]]) -> str:
    return SEPARATOR.join(dict.fromkeys(title for _, title in path))  # some pages say a heading twice


def _line(text: str) -> str:
    """A heading in one line of a length that a heading has."""
    return " ".join(text[: _LONGEST * 4].split())[:_LONGEST].rstrip()

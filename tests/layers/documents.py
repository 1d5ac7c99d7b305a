"""The code blocks of the documentation."""

import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"# (\S+\.\w+)\n")


@dataclass(frozen=True, slots=True)
class Block:
    """One code block; `name` is the file's, which its first line says, or empty."""

    language: str
    name: str
    text: str


def blocks(page: str, language: str = "") -> list[Block]:
    """The blocks of a page, in order, of one language or of all."""
    found = []
    for match in _BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")):
        name = _NAME.match(match[2])
        found.append(Block(match[1], name[1] if name else "", match[2]))
    return [block for block in found if language in ("", block.language)]

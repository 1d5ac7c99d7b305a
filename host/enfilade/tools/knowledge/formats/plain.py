"""Plain text: paragraphs."""

from itertools import groupby

from enfilade.tools.knowledge.block import Block


def blocks_of_text(text: str) -> list[Block]:
    """The paragraphs: what blank lines set apart."""
    paragraphs = groupby(text.split("\n"), key=lambda line: not line.strip())
    return [Block("\n".join(lines).rstrip()) for is_gap, lines in paragraphs if not is_gap]

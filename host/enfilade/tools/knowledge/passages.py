"""From the numbers of parts to passages."""

from collections.abc import Sequence

from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.retriever import Passage

DEEPER = 2
"""How many times more parts than are wanted are to be found for `passages_of`, since some may be alike."""


def passages_of(index: Index, found: Sequence[tuple[int, float]], limit: int) -> list[Passage]:
    """The passages of parts, in their order; of those with one and the same text only the first.

    Args:
        index: The knowledge base.
        found: Number and score of each part.
        limit: How many, at most.
    """
    marks = ", ".join("?" * len(found))
    rows = index.rows(
        "SELECT parts.id, parts.text, documents.name, parts.position, parts.heading, parts.page, documents.path "  # noqa: S608
        f"FROM parts JOIN documents ON documents.id = parts.document WHERE parts.id IN ({marks})",
        [number for number, _ in found],
    )
    by_number = {
        row[0]: Passage(str(row[0]), row[1], row[2], position=row[3], heading=row[4], page=row[5], path=row[6])
        for row in rows
    }
    kept: dict[str, Passage] = {}
    for number, score in found:
        if number in by_number:
            kept.setdefault(by_number[number].text, by_number[number].scored(score))
    return list(kept.values())[:limit]

"""Finds parts by their words: BM25 in the full-text index."""

import asyncio
from collections.abc import Sequence

from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.passages import DEEPER, passages_of
from enfilade.tools.knowledge.retriever import Passage
from enfilade.tools.knowledge.segmentation import terms_of

BUDGET = 2000
"""How many parts the rarest terms of a query may bring to be scored; about a microsecond each."""

_FREQUENT = 3
"""How many of the other terms, which all kinds of parts have, help to put those in order."""

_SCORE = "bm25(words, 1.0, 2.0, 1.0)"
"""A word in a heading counts twice."""


class WordRetriever:
    """Finds the parts that have words of the query.

    Args:
        index: The knowledge base; closed with this.
    """

    def __init__(self, index: Index) -> None:
        self._index = index

    async def retrieve(self, query: str, limit: int) -> Sequence[Passage]:
        """The parts that have words of the query, the best first."""
        return await asyncio.to_thread(self._found, query, limit)

    async def aclose(self) -> None:
        """Closes the knowledge base."""
        await asyncio.to_thread(self._index.close)

    def _found(self, query: str, limit: int) -> list[Passage]:
        with self._index.reading():
            expression = self._expression(query)
            if not expression:
                return []
            statement = f"SELECT rowid, -{_SCORE} AS score FROM words WHERE words MATCH ? ORDER BY score DESC LIMIT ?"  # noqa: S608
            found = self._index.rows(statement, (expression, limit * DEEPER))
            return passages_of(self._index, found, limit)

    def _expression(self, query: str) -> str:
        """The query in the language of the index: parts with one of the rare terms, in the order that all terms make.

        To score every part that has a word such as `the` would take a hundred milliseconds in a base of a hundred
        thousand parts, and say next to nothing.
        """
        counts = {term: count for term in terms_of(query) if (count := self._count(term))}
        rare: list[str] = []
        room = BUDGET
        for term in sorted(counts, key=lambda term: counts[term]):
            if rare and counts[term] > room:
                break
            rare.append(term)
            room -= counts[term]
        frequent = sorted((term for term in counts if term not in rare), key=len, reverse=True)[:_FREQUENT]
        either = " OR ".join(rare)
        return f"({either}) OR (({either}) AND ({' OR '.join(frequent)}))" if frequent else either

    def _count(self, term: str) -> int:
        """How many parts have a term, as far as that matters."""
        counted = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        count: int = self._index.rows(counted, (term, BUDGET + 1))[0][0]
        return count

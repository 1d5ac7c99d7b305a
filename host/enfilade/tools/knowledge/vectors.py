"""Finds parts by the nearness of their meaning: vectors, all of them compared."""

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from enfilade.tools.knowledge.embedding import Embedder
from enfilade.tools.knowledge.failure import KnowledgeError, Reason
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.passages import DEEPER, passages_of
from enfilade.tools.knowledge.retriever import Passage

if TYPE_CHECKING:
    import numpy as np

_AT_ONCE = 10_000


class VectorRetriever:
    """Finds the parts whose vectors are nearest to the query's, by cosine.

    All vectors are kept in memory, four bytes for each of their numbers, and read anew when the base has changed.

    Args:
        index: The knowledge base; closed with this.
        embedder: Makes the query's vector; closed with this.

    Raises:
        KnowledgeError: numpy is not installed.
    """

    def __init__(self, index: Index, embedder: Embedder) -> None:
        if find_spec("numpy") is None:
            raise KnowledgeError("searching by vectors needs: pip install 'enfilade[embeddings]'", Reason.EMBEDDING)
        self._index = index
        self._embedder = embedder
        self._seen: int | None = None
        self._numbers: list[int] = []
        self._matrix: np.ndarray[Any, Any] | None = None

    async def retrieve(self, query: str, limit: int) -> Sequence[Passage]:
        """The parts whose vectors are nearest to the query's, the nearest first."""
        if not query.strip():
            return []
        [vector] = await self._embedder.vectors([query])
        return await asyncio.to_thread(self._nearest, vector, limit)

    async def aclose(self) -> None:
        """Closes the knowledge base and the connections."""
        await self._embedder.aclose()
        await asyncio.to_thread(self._index.close)

    def _nearest(self, vector: bytes, limit: int) -> list[Passage]:
        import numpy as np

        with self._index.reading():
            self._refresh()
            if self._matrix is None:
                return []
            asked = np.frombuffer(vector, dtype=np.float32)
            if asked.shape[0] != self._matrix.shape[1]:
                raise self._other(f"vectors of {self._matrix.shape[1]} numbers, not of {asked.shape[0]}")
            scores = self._matrix @ asked
            count = min(limit * DEEPER, len(scores))
            best = np.argpartition(-scores, count - 1)[:count]
            ordered = best[np.lexsort((best, -scores[best]))]
            return passages_of(self._index, [(self._numbers[at], float(scores[at])) for at in ordered], limit)

    def _refresh(self) -> None:
        """Reads the vectors, where others may be there than before."""
        version = self._index.version()
        if version == self._seen:
            return
        marks = {row[0] for row in self._index.rows("SELECT DISTINCT embedding FROM documents")}
        if marks - {self._embedder.mark}:
            others = ", ".join(sorted(mark or "none" for mark in marks - {self._embedder.mark}))
            raise self._other(f"documents whose vectors were made by another model ({others})")
        self._numbers, self._matrix = self._read()
        self._seen = version

    def _read(self) -> "tuple[list[int], np.ndarray[Any, Any] | None]":
        import numpy as np

        numbers: list[int] = []
        blocks: list[np.ndarray[Any, Any]] = []
        last = 0
        while rows := self._index.rows(
            "SELECT part, vector FROM vectors WHERE part > ? ORDER BY part LIMIT ?", (last, _AT_ONCE)
        ):
            if len({len(row[1]) for row in rows}) > 1:
                raise self._other("vectors of several lengths")
            numbers += [row[0] for row in rows]
            blocks.append(np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(len(rows), -1))
            last = numbers[-1]
        if len({block.shape[1] for block in blocks}) > 1:
            raise self._other("vectors of several lengths")
        return numbers, np.concatenate(blocks) if blocks else None

    def _other(self, what: str) -> KnowledgeError:
        return KnowledgeError(
            f"{self._index.place} has {what}; add its documents again, so that {self._embedder.mark} makes all of them",
            Reason.EMBEDDING,
        )

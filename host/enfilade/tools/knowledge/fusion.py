"""Several retrievers as one: reciprocal rank fusion."""

import asyncio
import logging
from collections.abc import Sequence

from enfilade.tools.knowledge.retriever import Passage, Retriever
from enfilade_sdk.errors import EnfiladeError

_log = logging.getLogger(__name__)

K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

_DEEPER = 4
"""How many times more passages each is asked for than are wanted: what both know may stand first in neither."""


class HybridRetriever:
    """Asks several retrievers at once and puts what they find in one order.

    A passage's score is the sum of `1 / (60 + rank)` over those who found it, so that their own scores, which cannot be
    compared, do not matter. One that fails is left out with a warning while another one answers.

    Args:
        retrievers: Those to ask; closed with this.
    """

    def __init__(self, retrievers: Sequence[Retriever]) -> None:
        self._retrievers = tuple(retrievers)

    async def retrieve(self, query: str, limit: int) -> Sequence[Passage]:
        """The passages that one or more of them find, the best first."""
        asked = (retriever.retrieve(query, limit * _DEEPER) for retriever in self._retrievers)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        rankings = [answer for answer in answers if not isinstance(answer, BaseException)]
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        for failure in failures:
            if not rankings or not isinstance(failure, EnfiladeError):
                raise failure
            _log.warning("a search goes on without one of its ways: %s", failure)
        return fused(rankings, limit)

    async def aclose(self) -> None:
        """Closes them."""
        await asyncio.gather(*(retriever.aclose() for retriever in self._retrievers))


def fused(rankings: Sequence[Sequence[Passage]], limit: int) -> list[Passage]:
    """One ranking of several. What stands equal keeps the order in which the rankings have it."""
    scores: dict[str, float] = {}
    passages: dict[str, Passage] = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking, 1):
            passages.setdefault(passage.id, passage)
            scores[passage.id] = scores.get(passage.id, 0.0) + 1 / (K + rank)
    best = sorted(scores, key=lambda key: -scores[key])[:limit]
    return [passages[key].scored(scores[key]) for key in best]

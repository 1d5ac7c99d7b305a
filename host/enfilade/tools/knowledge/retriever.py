"""What finds the parts that fit a question, whatever it looks in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Passage:
    """A part that was found.

    Attributes:
        id: What it is known by, the same from every retriever that finds it.
        text: Its text.
        document: What its document is called.
        score: How well it fits; greater is better, and only scores of one answer can be compared.
        position: Which part of its document it is, from 1.
        heading: The headings that it stands under, as one text.
        page: Its page, in documents that have pages.
        path: Where the document is.
    """

    id: str
    text: str
    document: str
    score: float = 0.0
    position: int | None = None
    heading: str = ""
    page: int | None = None
    path: str = ""

    def scored(self, score: float) -> "Passage":
        """The passage with another score."""
        return replace(self, score=score)

    @property
    def source(self) -> str:
        """Its document, headings and page, as one line."""
        page = None if self.page is None else f"page {self.page}"
        return ", ".join(filter(None, (self.document, self.heading, page)))

    def resource(self, rank: int, knowledge: str) -> dict[str, Any]:
        """What the user is given of it (`retriever_resources`).

        Args:
            rank: Its place in the answer, from 1.
            knowledge: The knowledge base's name.
        """
        return {
            "position": rank,
            "knowledge": knowledge,
            "document": self.document,
            "heading": self.heading,
            "page": self.page,
            "part": self.position,
            "part_id": self.id,
            "score": round(self.score, 6),
            "content": self.text,
        }


@runtime_checkable
class Retriever(Protocol):
    """Finds passages. Whatever can do this can stand behind a knowledge tool."""

    async def retrieve(self, query: str, limit: int) -> Sequence[Passage]:
        """The passages that fit a query, the best first.

        Args:
            query: The question, or the words to look for.
            limit: How many, at most.

        Raises:
            EnfiladeError: It cannot look; the text is for the model.
        """
        ...

    async def aclose(self) -> None:
        """Gives back what it holds."""
        ...

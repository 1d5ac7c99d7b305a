"""The retriever that a knowledge base's settings ask for."""

from pathlib import Path

from enfilade.tools.knowledge.documents import description_of, documents_of
from enfilade.tools.knowledge.embedding import Embedder
from enfilade.tools.knowledge.fusion import HybridRetriever
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.retriever import Retriever
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade.tools.knowledge.vectors import VectorRetriever
from enfilade.tools.knowledge.words import WordRetriever

_MOST_NAMED = 8


def retriever_of(index: Index, settings: KnowledgeSettings) -> Retriever:
    """The retriever; it closes the knowledge base with itself.

    Raises:
        KnowledgeError: What it needs is not installed.
    """
    embedder = embedder_of(settings)
    if embedder is None:
        return WordRetriever(index)
    near = VectorRetriever(index, embedder)
    return near if settings.way == "vectors" else HybridRetriever([WordRetriever(index), near])


def embedder_of(settings: KnowledgeSettings) -> Embedder | None:
    """What makes the vectors; None where none are needed."""
    return Embedder(settings.embedding) if settings.embedding is not None and settings.way != "words" else None


def described(index: Index, settings: KnowledgeSettings) -> str:
    """What the tool of a knowledge base says of itself: what is in it, or at least which documents."""
    said = settings.description or description_of(index)
    if not said:
        names = [Path(document.name).name for document in documents_of(index)]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        said = f"Its documents: {', '.join(names[:_MOST_NAMED])}{more}."
    return (
        f"Searches the knowledge base {index.name!r}. {said} Gives the passages that fit the query best, each with a "
        "number and its source; name the sources that an answer rests on."
    )

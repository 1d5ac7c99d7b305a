"""Knowledge bases for tests: filled, searched, told."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from enfilade.tools.knowledge.adding import Addition, Changes
from enfilade.tools.knowledge.embedding import Embedder
from enfilade.tools.knowledge.finding import files_of
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.retriever import Passage, Retriever
from enfilade.tools.knowledge.retrievers import embedder_of, retriever_of
from enfilade.tools.knowledge.settings import KnowledgeSettings

DEFAULT = KnowledgeSettings()


async def added(
    file: Path, *paths: Path | str, settings: KnowledgeSettings = DEFAULT, prune: Sequence[Path] = ()
) -> Changes:
    """Takes files into the knowledge base of a file."""
    found = files_of([str(path) for path in paths], file.parent)
    index = Index.make("docs", file, patience=0.1)
    embedder: Embedder | None = embedder_of(settings)
    try:
        return await Addition(index, settings, embedder).run(found, gone_below=prune)
    finally:
        index.close()
        if embedder is not None:
            await embedder.aclose()


def opened(file: Path) -> Index:
    """The knowledge base of a file."""
    index = Index.open("docs", file)
    assert index is not None
    return index


@asynccontextmanager
async def retriever(file: Path, settings: KnowledgeSettings = DEFAULT) -> AsyncIterator[Retriever]:
    """The retriever of a knowledge base."""
    index = opened(file)
    try:
        made = retriever_of(index, settings)
    except BaseException:
        index.close()
        raise
    try:
        yield made
    finally:
        await made.aclose()


async def found(file: Path, query: str, limit: int = 5, settings: KnowledgeSettings = DEFAULT) -> list[Passage]:
    """What a query finds."""
    async with retriever(file, settings) as made:
        return list(await made.retrieve(query, limit))


def content(file: Path) -> list[tuple[object, ...]]:
    """All that is in a knowledge base, word for word."""
    index = opened(file)
    try:
        queries = ("documents ORDER BY id", "parts ORDER BY id", "vectors ORDER BY part")
        words = [tuple(row) for row in index.rows("SELECT rowid, name, heading, text FROM words ORDER BY rowid")]
        return [tuple(row) for query in queries for row in index.rows(f"SELECT * FROM {query}")] + words
    finally:
        index.close()

"""The tool of a knowledge base as a source."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.place import file_of, files, not_found
from enfilade.tools.knowledge.retriever import Retriever
from enfilade.tools.knowledge.retrievers import described, retriever_of
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade.tools.knowledge.tool import KnowledgeTool
from enfilade.tools.tool import Tool


class KnowledgeSource:
    """One knowledge base.

    Args:
        name: Its name.
        configured: All knowledge bases of the configuration.
        folder: Where relative paths start.
    """

    def __init__(self, name: str, configured: Mapping[str, KnowledgeSettings], folder: Path) -> None:
        self.origin = f"knowledge:{name}"
        self._name = name
        self._configured = configured
        self._folder = folder
        self._settings = configured.get(name, KnowledgeSettings())
        self._file = file_of(name, self._settings, folder)
        self._retriever: Retriever | None = None
        self._stamp: tuple[int, ...] = ()

    @property
    def outdated(self) -> bool:
        """Whether the file has changed since it was loaded, so that the tool may say something else of itself."""
        return self._stamp != _stamp(self._file)

    async def load(self) -> list[Tool]:
        """Opens the knowledge base.

        Raises:
            EnfiladeError: There is none of that name, or it cannot be opened; the text says why and what to do.
        """
        self._stamp = _stamp(self._file)
        return [await asyncio.to_thread(self._loaded)]

    async def aclose(self) -> None:
        """Closes it."""
        retriever, self._retriever = self._retriever, None
        if retriever is not None:
            await retriever.aclose()

    def _loaded(self) -> Tool:
        index = Index.open(self._name, self._file)
        if index is None:
            there = [name for name, file in files(self._configured, self._folder).items() if file.exists()]
            raise not_found(self._name, there)
        settings = self._settings
        try:
            description = described(index, settings)
            self._retriever = retriever_of(index, settings)
        except BaseException:
            index.close()
            raise
        secrets = frozenset() if settings.embedding is None else settings.embedding.secrets()
        return KnowledgeTool(
            self._name,
            description,
            self._retriever,
            results=settings.results,
            timeout=settings.timeout,
            secrets=secrets,
        )


def _stamp(file: Path) -> tuple[int, ...]:
    """What changes when the knowledge base does: which file it is, and its and its journal's time and size."""
    stamp: list[int] = []
    for place in (str(file), f"{file}-wal"):
        try:
            found = os.stat(place)  # noqa: PTH116 - asked before every run
        except OSError:
            stamp.append(0)
        else:
            stamp += (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else (0,)
    return tuple(stamp)

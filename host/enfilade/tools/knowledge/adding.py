"""Takes documents into a knowledge base."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from enfilade.tools.knowledge.documents import Document, describe, documents_of, put, take_out
from enfilade.tools.knowledge.embedding import Embedder
from enfilade.tools.knowledge.failure import DocumentFault, faults_together
from enfilade.tools.knowledge.finding import FoundFile
from enfilade.tools.knowledge.formats.reading import blocks_of, content_of, format_of
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade.tools.knowledge.splitting import VERSION, parts_of

Progress = Callable[[int, int, str], None]
"""Is told how many files are done, of how many, and which one is next."""


@dataclass(slots=True)
class Changes:
    """What came of adding; the lists hold what documents are called.

    Attributes:
        added: Documents that are new.
        replaced: Documents whose parts are new.
        unchanged: Documents that are as they were.
        removed: Documents that were taken out, since their files are gone.
        skipped: Files of folders that cannot be taken in: the reasons by their paths.
        documents: How many documents there are now.
        parts: How many parts they have.
    """

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    documents: int = 0
    parts: int = 0


class Addition:
    """Takes files in, all of them or, when anything goes wrong, none.

    A file that was named and cannot be read is such a fault; one that was found in a folder is left out and told.

    Args:
        index: The knowledge base.
        settings: Its settings.
        embedder: Makes the vectors; None makes none.
        progress: Is told how far it is.
    """

    def __init__(
        self,
        index: Index,
        settings: KnowledgeSettings,
        embedder: Embedder | None = None,
        progress: Progress = lambda _done, _total, _name: None,
    ) -> None:
        self._index = index
        self._settings = settings
        self._embedder = embedder
        self._progress = progress

    async def run(
        self, files: Sequence[FoundFile], *, description: str | None = None, gone_below: Sequence[Path] = ()
    ) -> Changes:
        """Does it, in one transaction.

        Args:
            files: The files.
            description: What is in the knowledge base, in words for the model; None leaves it as it is.
            gone_below: Folders; documents below them whose files are gone are taken out.

        Raises:
            DocumentFault: A file that was named cannot be taken in, or none can; all are told.
            KnowledgeError: The knowledge base cannot be written, or the vectors cannot be had.
        """
        changes = Changes()
        faults: list[DocumentFault] = []
        with self._index.writing() as connection:
            before = {document.path: document for document in documents_of(self._index)}
            for done, file in enumerate(files):
                self._progress(done, len(files), file.name)
                await asyncio.sleep(0)  # where it can be broken off
                try:
                    await self._take_in(file, before.get(str(file.path)), changes, None if faults else connection)
                except DocumentFault as fault:
                    changes.skipped[str(file.path)] = fault.message
                    if file.is_named:
                        faults.append(fault)
            self._progress(len(files), len(files), "")
            if faults or (files and len(changes.skipped) == len(files)):
                raise faults_together(faults or [DocumentFault(text) for text in changes.skipped.values()])
            if description is not None:
                describe(connection, description)
            self._clear(connection, before, gone_below, changes)
            changes.documents, changes.parts = totals(self._index)
        return changes

    async def _take_in(
        self, file: FoundFile, before: Document | None, changes: Changes, connection: sqlite3.Connection | None
    ) -> None:
        """Takes one file in; without a connection it is only looked at."""
        data = content_of(file.path, file.name, self._settings.file_bytes)
        document = self._document(file, data)
        if before is not None and before.is_same(document):
            changes.unchanged.append(before.name)
            return
        parts = parts_of(blocks_of(data, document.format, file.name), self._settings.part_characters)
        if connection is None:
            return
        vectors: list[bytes] = []
        if self._embedder is not None:
            vectors = await self._embedder.vectors([f"{part.heading}\n{part.text}".strip() for part in parts])
        put(connection, document, parts, vectors)
        (changes.added if before is None else changes.replaced).append(file.name)

    def _document(self, file: FoundFile, data: bytes) -> Document:
        return Document(
            id=0,
            path=str(file.path),
            name=file.name,
            format=format_of(file.path, data),
            bytes=len(data),
            digest=hashlib.sha256(data).hexdigest(),
            recipe=f"{VERSION}/{self._settings.part_characters}",
            embedding="" if self._embedder is None else self._embedder.mark,
            parts=0,
            added_at=0,
        )

    def _clear(
        self, connection: sqlite3.Connection, before: dict[str, Document], folders: Sequence[Path], changes: Changes
    ) -> None:
        for path, document in before.items():
            is_below = any(Path(path).is_relative_to(folder) for folder in folders)
            if is_below and not Path(path).exists():
                take_out(connection, [document.id])
                changes.removed.append(document.name)


def totals(index: Index) -> tuple[int, int]:
    """How many documents there are, and how many parts."""
    documents, parts = index.rows("SELECT count(*), coalesce(sum(parts), 0) FROM documents")[0]
    return documents, parts

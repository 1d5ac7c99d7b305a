"""The documents of a knowledge base: told, put in, taken out."""

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.segmentation import segmented
from enfilade.tools.knowledge.splitting import Part

_COLUMNS = "id, path, name, format, bytes, digest, recipe, embedding, parts, added_at"


@dataclass(frozen=True, slots=True)
class Document:
    """A document.

    Attributes:
        id: Its number; 0 before it is put in.
        path: Where its file is (or was), absolute.
        name: What it is called where it is cited.
        format: `text`, `markdown`, `html` or `pdf`.
        bytes: The size of its file.
        digest: The SHA-256 of its file, in hexadecimal.
        recipe: How its parts were made; another recipe would make others.
        embedding: The model that made its vectors; empty where it has none.
        parts: How many parts it has.
        added_at: When it was put in, in microseconds since 1970 UTC.
    """

    id: int
    path: str
    name: str
    format: str
    bytes: int
    digest: str
    recipe: str
    embedding: str
    parts: int
    added_at: int

    def is_same(self, other: "Document") -> bool:
        """Whether taking in the other would change nothing."""
        return (self.digest, self.recipe, self.embedding, self.format) == (
            other.digest,
            other.recipe,
            other.embedding,
            other.format,
        )


def documents_of(index: Index) -> list[Document]:
    """All documents, in order of their names."""
    return [Document(*row) for row in index.rows(f"SELECT {_COLUMNS} FROM documents ORDER BY name, path")]  # noqa: S608 - no value in it


def description_of(index: Index) -> str:
    """What was said to be in it; empty where nothing was."""
    found = index.rows("SELECT value FROM about WHERE key = 'description'")
    return str(found[0][0]) if found else ""


def describe(connection: sqlite3.Connection, description: str) -> None:
    """Says what is in it."""
    connection.execute("INSERT OR REPLACE INTO about VALUES ('description', ?)", (description,))


def put(
    connection: sqlite3.Connection, document: Document, parts: Sequence[Part], vectors: Sequence[bytes] = ()
) -> None:
    """Puts a document in, in the place of one of the same path.

    Args:
        connection: A connection that is writing.
        document: The document.
        parts: Its parts.
        vectors: A vector for each part, or none at all.
    """
    former = connection.execute("SELECT id FROM documents WHERE path = ?", (document.path,)).fetchall()
    take_out(connection, [row[0] for row in former])
    values = (
        document.path,
        document.name,
        document.format,
        document.bytes,
        document.digest,
        document.recipe,
        document.embedding,
        len(parts),
        time.time_ns() // 1000,
    )
    number = connection.execute(
        "INSERT INTO documents (path, name, format, bytes, digest, recipe, embedding, parts, added_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        values,
    ).lastrowid
    name = segmented(document.name)
    for position, part in enumerate(parts, 1):
        key = _put_part(connection, (number, position), name, part)
        if vectors:
            connection.execute("INSERT INTO vectors VALUES (?, ?)", (key, vectors[position - 1]))


def _put_part(connection: sqlite3.Connection, place: tuple[int | None, int], name: str, part: Part) -> int | None:
    """Puts a part in its place, the document's number and its position in it; gives the part's own number."""
    key = connection.execute(
        "INSERT INTO parts (document, position, heading, page, text) VALUES (?, ?, ?, ?, ?)",
        (*place, part.heading, part.page, part.text),
    ).lastrowid
    connection.execute(
        "INSERT INTO words (rowid, name, heading, text) VALUES (?, ?, ?, ?)",
        (key, name, segmented(part.heading), segmented(part.text)),
    )
    return key


def take_out(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Takes documents out, with all their parts."""
    for number in numbers:
        parts = "SELECT id FROM parts WHERE document = ?"
        connection.execute(f"DELETE FROM words WHERE rowid IN ({parts})", (number,))  # noqa: S608
        connection.execute(f"DELETE FROM vectors WHERE part IN ({parts})", (number,))  # noqa: S608
        connection.execute("DELETE FROM parts WHERE document = ?", (number,))
        connection.execute("DELETE FROM documents WHERE id = ?", (number,))

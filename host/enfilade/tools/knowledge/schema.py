"""The tables of a knowledge base."""

import sqlite3

from enfilade.tools.knowledge.failure import KnowledgeError, Reason

APPLICATION = 0x656E666B
"""Marks a SQLite file as a knowledge base (`PRAGMA application_id`)."""

VERSION = 1
"""The schema's version (`PRAGMA user_version`)."""

_STATEMENTS = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        format TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        digest TEXT NOT NULL,
        recipe TEXT NOT NULL,
        embedding TEXT NOT NULL,
        parts INTEGER NOT NULL,
        added_at INTEGER NOT NULL
    )""",
    # An id is never used twice, so that what was found a moment ago is never taken for something else.
    """CREATE TABLE parts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        document INTEGER NOT NULL REFERENCES documents (id),
        position INTEGER NOT NULL,
        heading TEXT NOT NULL,
        page INTEGER,
        text TEXT NOT NULL
    )""",
    "CREATE INDEX parts_of_document ON parts (document, position)",
    "CREATE TABLE vectors (part INTEGER PRIMARY KEY REFERENCES parts (id), vector BLOB NOT NULL)",
    """CREATE VIRTUAL TABLE words USING fts5 (
        name, heading, text, tokenize = 'porter unicode61 remove_diacritics 2'
    )""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


def is_made(connection: sqlite3.Connection, place: str) -> bool:
    """Whether the tables are there; False for a file in which nothing was ever made.

    Raises:
        KnowledgeError: It is another kind of database, or one of a newer version.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == APPLICATION:
        if version > VERSION:
            raise KnowledgeError(
                f"{place} was made by a newer Enfilade (schema {version}; this one knows {VERSION}); update Enfilade",
                Reason.NEWER,
            )
        return True
    if application or version or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise KnowledgeError(f"{place} is a database of something else; name another file", Reason.NOT_A_BASE)
    return False


def make(connection: sqlite3.Connection) -> None:
    """Makes the tables, within the transaction that is open."""
    for statement in _STATEMENTS:
        connection.execute(statement)

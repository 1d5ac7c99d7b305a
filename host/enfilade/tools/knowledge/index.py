"""A knowledge base that is open: its file, its transactions, what it says of itself."""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from enfilade.settings.current_folder import absolute
from enfilade.tools.knowledge.failure import KnowledgeError, Reason, told_of
from enfilade.tools.knowledge.schema import is_made, make

PATIENCE = 5.0
"""Seconds to wait for another program's lock."""

Row = tuple[Any, ...]
"""A row as it was read."""


class Index:
    """An open knowledge base. It may be used from several threads; each use has it for itself.

    Args:
        connection: The open file.
        name: The knowledge base's name.
        file: The file.
    """

    def __init__(self, connection: sqlite3.Connection, name: str, file: Path) -> None:
        self.name = name
        self.file = file
        self._connection = connection
        self._lock = threading.RLock()
        self._inode = _inode(file)

    @classmethod
    def open(cls, name: str, file: Path) -> Self | None:
        """Opens a knowledge base for reading; None where there is none. What is added meanwhile is seen.

        Raises:
            KnowledgeError: It cannot be opened; the text says why and what to do.
        """
        place = place_of(name, file)
        if not file.exists():
            return None
        with told_of(place):
            connection = _readable(file)
            try:
                made = is_made(connection, place)
            except BaseException:
                connection.close()
                raise
        if made:
            return cls(connection, name, file)
        connection.close()
        return None

    @classmethod
    def make(cls, name: str, file: Path, *, patience: float = PATIENCE) -> Self:
        """Opens a knowledge base for writing. Nothing is in the file before the first transaction ends.

        Args:
            name: Its name.
            file: Its file; made, with its folder, where it is not there.
            patience: Seconds to wait for another program that is writing.

        Raises:
            KnowledgeError: It cannot be opened.
        """
        place = place_of(name, file)
        _create(file, place)
        with told_of(place):
            connection = sqlite3.connect(file, timeout=patience, isolation_level=None, check_same_thread=False)
            try:
                is_made(connection, place)
                connection.execute("PRAGMA journal_mode = WAL")  # whoever searches meanwhile sees what was there before
            except BaseException:
                connection.close()
                raise
        return cls(connection, name, file)

    @property
    def place(self) -> str:
        """What it is called in errors."""
        return place_of(self.name, self.file)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """What a query finds.

        Raises:
            KnowledgeError: It cannot be read.
        """
        with self._lock, told_of(self.place):
            found: list[Row] = self._connection.execute(query, values).fetchall()
        return found

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Lets several queries see one state."""
        with self._lock, told_of(self.place):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    self._connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of what is written in it holds at its end, and nothing of it after an error or a crash.

        Raises:
            KnowledgeError: Another program is writing, or the file cannot be written.
        """
        with self._lock, told_of(self.place):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_in_place()
                if not is_made(self._connection, self.place):
                    make(self._connection)
                yield self._connection
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def version(self) -> int:
        """A number that changes when another connection has changed something."""
        number: int = self.rows("PRAGMA data_version")[0][0]
        return number

    def remove(self, *, if_empty: bool = False) -> None:
        """Removes the file. Those who have it open keep what they see; whoever waits to write is refused.

        Args:
            if_empty: Only when nothing was ever made in it.

        Raises:
            KnowledgeError: Another program is writing, or the folder cannot be written.
        """
        with self._lock, told_of(self.place):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_in_place()
                if not (if_empty and is_made(self._connection, self.place)):
                    self._unlink()
            finally:
                self._connection.execute("ROLLBACK")

    def _unlink(self) -> None:
        try:
            for ending in ("", "-wal", "-shm"):
                Path(f"{self.file}{ending}").unlink(missing_ok=True)
        except OSError as error:
            raise KnowledgeError(f"{self.place} cannot be removed: {error.strerror}", Reason.READ_ONLY) from None

    def _check_in_place(self) -> None:
        if _inode(self.file) != self._inode:
            raise KnowledgeError(f"{self.place} was removed by another program meanwhile; try again", Reason.LOCKED)


def place_of(name: str, file: Path) -> str:
    """What a knowledge base is called in errors."""
    return f"the knowledge base {name!r} ({file})"


def _inode(file: Path) -> int:
    try:
        return os.stat(file).st_ino  # noqa: PTH116 - as short
    except OSError:
        return 0


def _create(file: Path, place: str) -> None:
    """Makes the file, for this user alone, where there is none."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise KnowledgeError(f"{place} cannot be made: {error.strerror}", Reason.REFUSED) from None


def _readable(file: Path) -> sqlite3.Connection:
    """A connection that only reads, also where nothing beside the file may be written."""
    uri = absolute(file).as_uri()
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(
            f"{uri}?{mode}", uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if "immutable" in mode or not error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise AssertionError("the second way raises or returns")

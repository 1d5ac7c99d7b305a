"""Writes to a SQLite file in a thread of its own, with a connection of its own.

The event loop hands a whole transaction over and gets one word back. Through an async driver each statement would cross
to the driver's thread and back, which takes longer than the statement.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from enfilade.store.batch import Row
from enfilade.store.engine import sqlite_connection

Result = TypeVar("Result")

Work = Sequence[tuple[str, list[Row]]]
"""Statements with named parameters, each with the rows that it is run for."""


class FileWriter:
    """Writes to one file, one transaction after the other.

    Args:
        file: The file, which is there.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._used = False
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="enfilade-records")

    async def write(self, work: Work) -> None:
        """Writes all of it in one transaction, or nothing.

        Raises:
            sqlite3.Error: It could not be written.
        """
        await self.transact(lambda connection: _write(connection, work))

    async def transact(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Does work in the thread, in one transaction that holds the file's lock from its beginning.

        A caller that is cancelled leaves its work under way; it is written or not, but whole.

        Raises:
            sqlite3.Error: It could not be written.
        """
        self._used = True
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)

    def close(self) -> None:
        """Stops what is under way, which is undone, and closes the connection; does not wait for it."""
        if (connection := self._connection) is not None:
            with contextlib.suppress(sqlite3.ProgrammingError):  # the thread has just closed it
                connection.interrupt()
        if self._used:
            self._thread.submit(self._drop)
        self._thread.shutdown(wait=False)

    def _transact(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        if self._connection is None:
            self._connection = sqlite_connection(self._file)
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            result = work(connection)
            connection.execute("COMMIT")
            return result
        except BaseException:
            self._drop()  # undoes what was begun, and a connection that met a full disk is not trusted any more
            raise

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def _write(connection: sqlite3.Connection, work: Work) -> None:
    for statement, rows in work:
        connection.executemany(statement, rows)

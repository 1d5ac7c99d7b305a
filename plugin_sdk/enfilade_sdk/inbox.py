"""The answers of one open call as they arrive, with credit for the sender."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from enfilade_sdk.errors import EnfiladeError

T = TypeVar("T")

WINDOW = 512
"""Units of answer a call takes ahead of its reader."""

UNIT = 4096
"""Bytes that one unit of credit stands for; every item costs one unit and one more for each of these."""


def cost(size: int) -> int:
    """The units that an item of that many bytes costs. Both ends count the item as it stands on the wire."""
    return 1 + size // UNIT


class Inbox(Generic[T]):
    """A line of answers on one event loop. `on_read` is told how many units were read, in portions."""

    def __init__(self, on_read: Callable[[int], None]) -> None:
        self._on_read = on_read
        self._items: list[T] = []
        self._units = 0
        self._owed = 0
        self._error: EnfiladeError | None = None
        self._arrived: asyncio.Future[None] | None = None

    def put(self, item: T, size: int) -> None:
        """Puts an answer; the sender's credit bounds how many wait."""
        self._items.append(item)
        self._units += cost(size)
        self._wake()

    def fail(self, error: EnfiladeError) -> None:
        """Ends the line: what waits is still read, then the error is raised."""
        self._error = error
        self._wake()

    async def take(self) -> list[T]:
        """Takes all that waits, at least one.

        Raises:
            EnfiladeError: The line was ended by `fail`.
        """
        while not self._items:
            if self._error is not None:
                raise self._error
            self._arrived = asyncio.get_running_loop().create_future()
            await self._arrived
        items, self._items = self._items, []
        self._owed += self._units
        self._units = 0
        if self._owed >= WINDOW // 2:
            owed, self._owed = self._owed, 0
            self._on_read(owed)
        return items

    def _wake(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

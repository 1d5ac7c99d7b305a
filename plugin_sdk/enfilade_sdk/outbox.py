"""A bounded box of items that wait to be written: whatever has piled up leaves in one write."""

import asyncio
from typing import Generic, TypeVar

from enfilade_sdk.errors import RunCancelled

T = TypeVar("T")

OUTBOX_ITEMS = 256
"""Items that may wait before a sender has to."""

OUTBOX_BYTES = 2 * 1024 * 1024
"""Bytes that may wait before a sender has to."""

SETTLE = 2
"""Turns of the loop that a writer lets pass before it takes, so that what a step says in several tasks leaves at once.

Without it a round of tool calls left in three frames instead of one, and a frame costs more than two empty turns.
"""


class Outbox(Generic[T]):
    """Many senders, one writer, one event loop."""

    def __init__(self, items: int = OUTBOX_ITEMS, size: int = OUTBOX_BYTES) -> None:
        self._limit, self._size_limit = items, size
        self._items: list[T] = []
        self._size = 0
        self._closed = False
        self._filled: asyncio.Future[None] | None = None
        self._emptied: asyncio.Future[None] | None = None

    @property
    def closed(self) -> bool:
        """Whether it takes nothing more."""
        return self._closed

    async def put(self, item: T, size: int) -> None:
        """Puts an item of that many bytes; waits while the box is full.

        Raises:
            RunCancelled: The box is closed, so nobody will write the item.
        """
        while not self.offer(item, size):
            if self._emptied is None:
                self._emptied = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._emptied)

    def offer(self, item: T, size: int) -> bool:
        """Puts an item if there is room for it; says whether there was.

        Raises:
            RunCancelled: The box is closed.
        """
        if not self._closed and (len(self._items) >= self._limit or self._size >= self._size_limit):
            return False
        self.push(item, size)
        return True

    def push(self, item: T, size: int) -> None:
        """Puts an item at once, full or not: for the few items that a peer waits for.

        Raises:
            RunCancelled: The box is closed.
        """
        if self._closed:
            raise RunCancelled("the stream is closed; nothing more can be sent on it")
        self._items.append(item)
        self._size += size
        if self._filled is not None:
            _finish(self._filled)
            self._filled = None

    async def take(self) -> list[T]:
        """Takes everything; waits for the first item; gives an empty list when the box is closed and empty."""
        while not self._items and not self._closed:
            self._filled = asyncio.get_running_loop().create_future()
            await self._filled
        for _ in range(SETTLE):
            if not self._closed:
                await asyncio.sleep(0)
        items, self._items, self._size = self._items, [], 0
        if self._emptied is not None:
            _finish(self._emptied)
            self._emptied = None
        return items

    def close(self) -> None:
        """Lets the writer take what is left and refuses more."""
        self._closed = True
        for waiter in (self._filled, self._emptied):
            if waiter is not None:
                _finish(waiter)
        self._filled = self._emptied = None


def _finish(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)

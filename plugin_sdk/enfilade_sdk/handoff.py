"""A bounded line of values between a thread and an event loop."""

import asyncio
import contextlib
import threading
from typing import Generic, TypeVar

from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, TextPayload, ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk

T = TypeVar("T")

HANDOFF_LIMIT = 256
"""Values that may wait in one line before the side that puts has to wait."""

HANDOFF_BYTES = 4 * 1024 * 1024
"""Bytes that may wait in one line before the side that puts has to wait."""


class HandoffClosed(Exception):  # noqa: N818 - a state both sides may meet, not a fault
    """The other side has closed the line."""


class Handoff(Generic[T]):
    """One line with a blocking end for a thread and an awaitable end for the loop.

    Either end may put or take, but a line is used in one direction only: one side puts, the other takes.
    Values that were put before `close` are still taken after it.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, limit: int = HANDOFF_LIMIT, size_limit: int = HANDOFF_BYTES
    ) -> None:
        self._loop = loop
        self._limit, self._size_limit = limit, size_limit
        self._items: list[T] = []
        self._size = 0
        self._changed = threading.Condition()
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False

    def put(self, item: T, size: int = 0) -> None:
        """Puts an item of that many bytes from the thread; waits while the line is full.

        Raises:
            HandoffClosed: The line is closed.
        """
        with self._changed:
            while not self._has_room():
                self._changed.wait()
            self._add(item, size)
            self._wake_loop()

    def take(self) -> list[T]:
        """Takes all that waits, in the thread; waits for one, gives none when the line is closed and empty."""
        with self._changed:
            while not self._items and not self._closed:
                self._changed.wait()
            self._wake_loop()
            return self._drain()

    async def put_async(self, item: T, size: int = 0) -> None:
        """Puts an item of that many bytes from the loop; waits while the line is full.

        Raises:
            HandoffClosed: The line is closed.
        """
        while True:
            with self._changed:
                if self._has_room():
                    self._add(item, size)
                    self._changed.notify_all()
                    return
                waiter = self._waiter = self._loop.create_future()
            await waiter

    async def take_async(self) -> list[T]:
        """Takes all that waits, on the loop; waits for one, gives none when the line is closed and empty."""
        while True:
            with self._changed:
                if self._items or self._closed:
                    self._changed.notify_all()
                    return self._drain()
                waiter = self._waiter = self._loop.create_future()
            await waiter

    def close(self) -> None:
        """Closes the line from either side and wakes whoever waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._wake_loop()

    def _has_room(self) -> bool:
        """Whether nobody need wait to put; a closed line makes nobody wait."""
        return self._closed or (len(self._items) < self._limit and self._size < self._size_limit)

    def _add(self, item: T, size: int) -> None:
        if self._closed:
            raise HandoffClosed
        self._items.append(item)
        self._size += size

    def _drain(self) -> list[T]:
        items, self._items, self._size = self._items, [], 0
        return items

    def _wake_loop(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                self._loop.call_soon_threadsafe(_finish, waiter)


def weight(value: object) -> int:
    """About how many bytes a message or chunk holds, as far as that is known without looking through it."""
    if isinstance(value, ToolInvokeMessage):
        payload = value.message
        if isinstance(payload, TextPayload):
            return len(payload.text)
        return len(payload.blob) if isinstance(payload, BlobPayload | BlobChunkPayload) else 0
    return len(value.text) + len(value.reasoning) if isinstance(value, ModelChunk) else 0


def _finish(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)

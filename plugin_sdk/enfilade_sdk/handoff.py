"""A bounded line of values between a thread and an event loop."""

import asyncio
import contextlib
import threading
from collections import deque
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
        self._items: deque[T] = deque()
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
            self._changed.wait_for(lambda: self._closed or self._has_room())
            self._add(item, size)

    def take(self) -> list[T]:
        """Takes all that waits, in the thread; waits for one, gives none when the line is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or bool(self._items))
            return self._drain()

    async def put_async(self, item: T, size: int = 0) -> None:
        """Puts an item of that many bytes from the loop; waits while the line is full.

        Raises:
            HandoffClosed: The line is closed.
        """
        while True:
            with self._changed:
                if self._closed or self._has_room():
                    self._add(item, size)
                    return
                waiter = self._wait()
            await waiter

    async def take_async(self) -> list[T]:
        """Takes all that waits, on the loop; waits for one, gives none when the line is closed and empty."""
        while True:
            with self._changed:
                if self._items or self._closed:
                    return self._drain()
                waiter = self._wait()
            await waiter

    def close(self) -> None:
        """Closes the line from either side and wakes whoever waits."""
        with self._changed:
            self._closed = True
            self._wake()

    def _has_room(self) -> bool:
        return len(self._items) < self._limit and self._size < self._size_limit

    def _add(self, item: T, size: int) -> None:
        if self._closed:
            raise HandoffClosed
        self._items.append(item)
        self._size += size
        self._wake()

    def _drain(self) -> list[T]:
        items = list(self._items)
        self._items.clear()
        self._size = 0
        self._wake()
        return items

    def _wait(self) -> asyncio.Future[None]:
        self._waiter = self._loop.create_future()
        return self._waiter

    def _wake(self) -> None:
        self._changed.notify_all()
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

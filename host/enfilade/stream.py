"""Guards a run's messages, whoever sends them: how many, how large, until when, and closed once."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from enfilade.config import Limits
from enfilade_sdk.errors import DeadlineExceededError, LimitExceededError
from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, TextPayload, ToolInvokeMessage


class GuardedStream:
    """Passes messages on while they stay within the limits; closes the source when they do not."""

    def __init__(self, source: AsyncGenerator[ToolInvokeMessage, None], limits: Limits, seconds: float) -> None:
        self._source = source
        self._limits = limits
        self._seconds = seconds
        self._expired = False
        self._waiting: asyncio.Task[object] | None = None
        self._closing: asyncio.Future[None] | None = None
        self._count = 0
        self._size = 0

    async def messages(self) -> AsyncGenerator[ToolInvokeMessage, None]:
        """The messages.

        Raises:
            LimitExceededError: There were too many, or they were too large together.
            DeadlineExceededError: The run's time is used up.
        """
        timer = asyncio.get_running_loop().call_later(self._seconds, self._expire)
        try:
            while (message := await self._next()) is not None:
                self._check(message)
                yield message
        finally:
            timer.cancel()
            if self._closing is not None:
                await self._closing
            await self._source.aclose()

    async def _next(self) -> ToolInvokeMessage | None:
        self._check_time()
        self._waiting = asyncio.current_task()
        try:
            return await anext(self._source)
        except StopAsyncIteration:
            return None
        except asyncio.CancelledError:
            if self._expired and self._waiting is not None:
                self._waiting.uncancel()
            self._check_time()
            raise
        finally:
            self._waiting = None

    def _check_time(self) -> None:
        if self._expired:
            raise DeadlineExceededError(f"the run's time of {self._seconds:g} s is used up")

    def _check(self, message: ToolInvokeMessage) -> None:
        self._count += 1
        self._size += size_of(message)
        if self._count > self._limits.messages:
            raise LimitExceededError(f"the run sent more than {self._limits.messages} messages")
        if self._size > self._limits.message_bytes:
            raise LimitExceededError(f"the run sent more than {self._limits.message_bytes} bytes of text and blobs")

    def _expire(self) -> None:
        """Interrupts whoever waits for a message; a caller that does not read finds the run closed."""
        self._expired = True
        if self._waiting is not None:
            self._waiting.cancel()
        else:
            self._closing = asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is being read right now, and the reader meets the deadline
            await self._source.aclose()


def size_of(message: ToolInvokeMessage) -> int:
    """Bytes (characters, for text) that a message weighs against the limit."""
    payload = message.message
    if isinstance(payload, TextPayload):
        return len(payload.text)
    if isinstance(payload, BlobPayload | BlobChunkPayload):
        return len(payload.blob)
    return 0

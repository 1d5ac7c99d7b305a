"""Ends a run from outside, with an error, whatever it waits for."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TypeVar

from enfilade_sdk.errors import EnfiladeError

T = TypeVar("T")

GRACE = 0.01
"""Seconds from an interruption to the stop, in which what was said before it still arrives."""


class Interruption:
    """Stands at both ends of one run's messages.

    `next` reads the outermost stream; whatever waits there, a layer too, is stopped. `within` goes around the
    innermost one, so that layers see the error as if the run itself had raised it. Belongs to one event loop.
    """

    def __init__(self) -> None:
        self.error: EnfiladeError | None = None
        self._reader: asyncio.Task[object] | None = None
        self._cancels_before = 0
        self._cancel_sent = False
        self._stream: AsyncGenerator[object, None] | None = None
        self._closing: asyncio.Task[None] | None = None

    def interrupt(self, error: EnfiladeError) -> None:
        """Makes the stream raise this error now. The first error counts, and none after the end."""
        if self.error is None:
            self.error = error
            # Never at once: whoever calls may be the task that reads the stream, from inside it.
            asyncio.get_running_loop().call_later(GRACE, self._stop)

    async def next(self, stream: AsyncGenerator[T, None]) -> T | None:
        """The next item of the outermost stream; None at its end. Always give the same stream.

        Raises:
            EnfiladeError: The interruption's error.
        """
        if self._closing is not None:
            self.check()
        task = asyncio.current_task()
        self._cancels_before = task.cancelling() if task is not None else 0
        self._stream, self._reader = stream, task
        try:
            item = await anext(stream)
        except StopAsyncIteration:
            self._take_back()
            self.check()
            return None
        except asyncio.CancelledError:
            self._take_back()
            raise
        finally:
            self._reader = None
        if self._cancel_sent:
            self._take_back()
        return item

    async def within(self, stream: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """The innermost stream; what it raises when it is interrupted is the interruption's error."""
        try:
            async for item in stream:
                yield item
            self.check()
        except asyncio.CancelledError:
            self._take_back()
            raise
        except EnfiladeError:
            self.check()
            raise
        finally:
            await stream.aclose()

    async def close(self, stream: AsyncGenerator[object, None]) -> None:
        """Closes the outermost stream; an interruption has no effect afterwards."""
        self._stream = None
        if self._closing is not None:
            await self._closing
        await stream.aclose()

    def check(self) -> None:
        """Raises the error of an interruption.

        Raises:
            EnfiladeError: There was one.
        """
        if self.error is not None:
            raise self.error

    def _stop(self) -> None:
        if self._reader is not None:
            self._cancel_sent = True
            self._reader.cancel()
        elif self._stream is not None and self._closing is None:
            self._closing = asyncio.ensure_future(_closed(self._stream))

    def _take_back(self) -> None:
        """Turns a cancellation of ours into the error; one that somebody else wants too goes on."""
        task = asyncio.current_task()
        if not self._cancel_sent or task is None or self.error is None:
            return
        self._cancel_sent = False
        if task.uncancel() <= self._cancels_before:
            raise self.error from None


async def _closed(stream: AsyncGenerator[object, None]) -> None:
    with contextlib.suppress(RuntimeError):  # it is being read after all, and its reader meets the error
        await stream.aclose()

"""Keeps an observing layer from changing or ending what it looks at."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
CallNext = Callable[[R], AsyncGenerator[T, None]]

PATIENCE = 5.0
"""Seconds that an observing layer may keep an item to itself; it is left out between one and two times that."""

_log = logging.getLogger(__name__)


class ObserverError(Exception):
    """What an observing layer did that it may not do."""


class Observed(Generic[R, T]):
    """One stream that one observing layer looks at.

    The layer is given the items and has to give each of them back, in order. At its first fault it is left out, and the
    stream goes on without it: first what it was given and has not given back, then the rest.

    Args:
        name: What the layer is called.
        request: What the stream answers.
        call_next: Opens the stream.
        patience: See `PATIENCE`.
    """

    def __init__(self, name: str, request: R, call_next: CallNext[R, T], patience: float = PATIENCE) -> None:
        self._name = name
        self._request = request
        self._call_next = call_next
        self._patience = patience
        self._inner: AsyncGenerator[T, None] | None = None
        self._held: deque[T] = deque()
        self._turn = 0
        self._layer_at_work = True
        self._ended = False
        self._error: BaseException | None = None

    def open(self, request: R) -> AsyncGenerator[T, None]:
        """What the layer calls to look at the stream.

        Raises:
            ObserverError: It opens it twice, or with another request.
        """
        if self._inner is not None:
            raise ObserverError("an observing layer may call call_next only once")
        if request is not self._request:
            raise ObserverError("an observing layer may not change the request")
        self._inner = self._call_next(request)
        return self._shown(self._inner)

    async def stream(self, look: Callable[[CallNext[R, T]], AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
        """The stream itself, item by item as it comes; it raises what the stream raises, never what the layer does.

        Args:
            look: The layer's method, which is given `open`.
        """
        looking: AsyncGenerator[T, None] | None = None
        watch = _Watch(self._patience, self._turn_of_layer)
        try:
            looking = look(self.open)
            while (item := await self._step(looking, watch)) is not None:
                yield item
        except Exception as error:  # noqa: BLE001 - whatever a layer does, the stream goes on
            if error is not self._error:
                _log.error("the observing layer %s is left out: %s", self._name, _words(error), exc_info=error)
        finally:
            watch.stop()
            if looking is not None:
                await self._close(looking)
        while self._held:
            yield self._held.popleft()
        if self._error is not None:
            raise self._error
        if not self._ended:
            async for item in self._inner or self._call_next(self._request):
                yield item

    async def _step(self, looking: AsyncGenerator[T, None], watch: "_Watch") -> T | None:
        task = asyncio.current_task()
        watch.begin(task)
        try:
            item = await anext(looking)
        except StopAsyncIteration:
            if self._error is None and (self._held or not self._ended):
                raise ObserverError("it ended before the stream did") from None
            return None
        except asyncio.CancelledError as error:
            watch.take_back()
            if error is not self._error and task is not None and not task.cancelling():
                raise ObserverError("something in it was cancelled") from error
            raise
        finally:
            watch.reader = None
        watch.take_back()
        if not self._held or self._held[0] is not item:
            raise ObserverError("it gave something else than it was given")
        return self._held.popleft()

    async def _shown(self, inner: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        while True:
            self._layer_at_work = False
            try:
                item = await anext(inner)
            except StopAsyncIteration:
                self._ended = True
                return
            except BaseException as error:
                self._error = error
                raise
            finally:
                self._layer_at_work = True
                self._turn += 1
            self._held.append(item)
            yield item

    def _turn_of_layer(self) -> int | None:
        """A number that stays the same while the layer works on one item; None while it waits for the next one."""
        return self._turn if self._layer_at_work else None

    async def _close(self, looking: AsyncGenerator[T, None]) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await looking.aclose()
        except Exception as error:  # noqa: BLE001 - whatever a layer does, the stream goes on
            _log.error("the observing layer %s could not be closed: %s", self._name, _words(error), exc_info=error)


class _Watch:
    """Stops a layer that keeps an item for too long; one timer serves a whole stream."""

    def __init__(self, patience: float, turn: Callable[[], int | None]) -> None:
        self.reader: asyncio.Task[object] | None = None
        self._patience = patience
        self._turn = turn
        self._seen: tuple[asyncio.Task[object] | None, int | None] = (None, None)
        self._sent = 0
        self._cancels_before = 0
        self._timer = asyncio.get_running_loop().call_later(patience, self._look)

    def begin(self, reader: "asyncio.Task[object] | None") -> None:
        """From here on the reader waits for the layer."""
        self.reader = reader
        self._cancels_before = reader.cancelling() if reader is not None else 0

    def stop(self) -> None:
        """Ends the watch."""
        self._timer.cancel()

    def take_back(self) -> None:
        """Turns the cancellation that stopped the layer into its fault.

        Raises:
            ObserverError: It was this watch that cancelled.
        """
        task = asyncio.current_task()
        if self._sent and task is not None:
            while self._sent:
                self._sent -= 1
                task.uncancel()
            if task.cancelling() > self._cancels_before:
                return  # somebody else cancelled it too, and that goes on
            raise ObserverError(f"it kept an item for more than {self._patience:g} s")

    def _look(self) -> None:
        now = (self.reader, self._turn())
        if self.reader is not None and now[1] is not None and now == self._seen:
            self._sent += 1
            self.reader.cancel()
        self._seen = now
        self._timer = asyncio.get_running_loop().call_later(self._patience, self._look)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

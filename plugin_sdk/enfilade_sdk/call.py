"""A call under way: its items as they come, its result at the end, blocking or awaited."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any, Generic, TypeVar, cast

from enfilade_sdk.errors import InternalError, ProtocolError, RunCancelled
from enfilade_sdk.handoff import Handoff, HandoffClosed

Item = TypeVar("Item")
Result = TypeVar("Result")


class Call(Generic[Item, Result]):
    """What `session.model.invoke` and `session.tools.invoke` give.

    An async strategy writes `async for item in call` and `await call`; a generator strategy writes
    `for item in call` and `call.result()`. Asking for the result passes over the items that are left.
    """

    def __init__(
        self,
        source: AsyncIterator[Item | Result],
        end: type[Result],
        loop: asyncio.AbstractEventLoop,
        on_done: Callable[["Call[Any, Any]"], None] = lambda _: None,
    ) -> None:
        self._source = source
        self._end = end
        self._loop = loop
        self._on_done = on_done
        self._result: Result | None = None
        self._over = False
        self._cancelled = False
        self._line: Handoff[Item | Result | BaseException] | None = None
        self._blocking: Iterator[Item] | None = None
        self._pump_task: asyncio.Task[None] | None = None

    def __aiter__(self) -> "Call[Item, Result]":
        return self

    async def __anext__(self) -> Item:
        if self._over:
            raise StopAsyncIteration
        try:
            async for value in self._source:
                if isinstance(value, self._end):
                    self._result = value
                else:
                    return cast(Item, value)
        except BaseException:
            self._finish()
            raise
        self._finish()
        raise StopAsyncIteration

    def __await__(self) -> Generator[Any, None, Result]:
        return self._awaited().__await__()

    async def _awaited(self) -> Result:
        async for _ in self:
            pass
        return self._checked()

    def __iter__(self) -> Iterator[Item]:
        if self._blocking is None:
            self._check_thread()
            self._blocking = self._block()
        return self._blocking

    def result(self) -> Result:
        """Waits, in a generator strategy, for the end.

        Raises:
            EnfiladeError: The call failed.
            RunCancelled: The run was cancelled meanwhile.
        """
        for _ in self:
            pass
        return self._checked()

    def cancel(self) -> None:
        """Gives the call up, from any thread; the host stops working on it."""
        self._cancelled = True
        if self._line is not None:
            self._line.close()
        with contextlib.suppress(RuntimeError):  # the loop is closed: the call went with it
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._pump_task is not None:
            self._pump_task.cancel()
        elif not self._over:
            self._over = True
            closing = asyncio.ensure_future(self._close_source())
            closing.add_done_callback(lambda task: task.exception() if not task.cancelled() else None)

    async def aclose(self) -> None:
        """Gives the call up and waits until its source is closed."""
        if not self._over:
            self._finish()
            await self._close_source()

    async def _close_source(self) -> None:
        close = getattr(self._source, "aclose", None)
        if close is not None:
            with contextlib.suppress(RuntimeError):  # it is running in another task, which is being cancelled
                await close()

    def _finish(self) -> None:
        self._over = True
        self._on_done(self)

    def _checked(self) -> Result:
        if self._result is None:
            raise ProtocolError("a call ended without a result; it was cancelled or its answer was cut off")
        return self._result

    def _check_thread(self) -> None:
        with contextlib.suppress(RuntimeError):
            if asyncio.get_running_loop() is self._loop:
                raise InternalError(
                    "a blocking form was used in an async strategy; write 'async for item in call' or 'await call'"
                )

    def _block(self) -> Iterator[Item]:
        line: Handoff[Item | Result | BaseException] = Handoff(self._loop)
        self._line = line
        if self._cancelled:
            line.close()
        asyncio.run_coroutine_threadsafe(self._pump(line), self._loop)
        while batch := line.take():
            for value in batch:
                if isinstance(value, BaseException):
                    raise value
                if isinstance(value, self._end):
                    self._result = value
                else:
                    yield cast(Item, value)
        if self._cancelled:
            raise RunCancelled("the run or the call was cancelled while the strategy waited for it")

    async def _pump(self, line: Handoff[Item | Result | BaseException]) -> None:
        self._pump_task = asyncio.current_task()
        try:
            async for value in self._source:
                await line.put_async(value)
        except HandoffClosed:
            pass
        except asyncio.CancelledError:
            self._cancelled = True
        except Exception as error:  # noqa: BLE001 - whatever the source raises belongs to the strategy's thread
            with contextlib.suppress(HandoffClosed):
                await line.put_async(error)
        finally:
            await self._close_source()
            line.close()
            self._finish()

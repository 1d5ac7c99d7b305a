"""A call under way: its items as they come, its result at the end, blocking or awaited."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

from enfilade_sdk.errors import InternalError, ProtocolError, RunCancelled
from enfilade_sdk.handoff import Handoff, HandoffClosed, weight

Item = TypeVar("Item")
Result = TypeVar("Result")


class Call(Generic[Item, Result]):
    """What `session.model.invoke` and `session.tools.invoke` give.

    An async strategy writes `async for item in call` and `await call`; a generator strategy writes
    `for item in call` and `call.result()`. Asking for the result passes over the items that are left.
    The call goes out when it is first asked for something.
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
        self._given_up = False
        self._over = False
        self._let_go = asyncio.Event()
        self._reader: asyncio.Task[Any] | None = None
        self._interrupted = False
        self._line: Handoff[Item | Result | BaseException] | None = None
        self._blocking: Iterator[Item] | None = None
        self._closing: asyncio.Task[None] | None = None

    def __aiter__(self) -> "Call[Item, Result]":
        return self

    async def __anext__(self) -> Item:
        if not self._over:
            reader = self._reader = asyncio.current_task()
            try:
                async for value in self._source:
                    if not isinstance(value, self._end):
                        return cast(Item, value)
                    self._result = value
            except asyncio.CancelledError:
                self._finish()
                if self._interrupted and reader is not None and reader.uncancel() == 0:
                    raise self._cancelled() from None
                raise
            except BaseException:
                self._finish()
                raise
            finally:
                self._reader = None
            self._finish()
        self._check_given_up()
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
            RunCancelled: The call or its run was cancelled meanwhile.
        """
        for _ in self:
            pass
        return self._checked()

    if not TYPE_CHECKING:  # a type checker is to go on seeing that there is no such member

        def __getattr__(self, name: str) -> NoReturn:
            """Says where the members of a result are, to whoever looks for them here."""
            raise AttributeError(
                f"a call that is under way has no {name!r}; what it gave is `call.result()` in a generator strategy, "
                "`await call` in an async one",
                name=name,
                obj=self,
            )

    def cancel(self) -> None:
        """Gives the call up, from any thread: who waits for it meets `RunCancelled`, the host stops working on it."""
        self._given_up = True
        if self._line is not None:
            self._line.close()
        with contextlib.suppress(RuntimeError):  # the loop is closed: the call went with it
            self._loop.call_soon_threadsafe(self._stop)

    async def aclose(self) -> None:
        """Gives the call up and waits until its source is closed."""
        if self._over:
            await self._let_go.wait()
            return
        self._given_up = True
        if self._reader is not None and self._reader is not asyncio.current_task():
            self._interrupt(self._reader)
            await self._let_go.wait()
            return
        self._over = True
        await self._close_source()
        self._finish()

    def _interrupt(self, reader: asyncio.Task[Any]) -> None:
        if not self._interrupted:
            self._interrupted = True
            reader.cancel()

    def _stop(self) -> None:
        if not self._over and self._closing is None:
            self._closing = self._loop.create_task(self.aclose())

    async def _close_source(self) -> None:
        close = getattr(self._source, "aclose", None)
        if close is not None:
            with contextlib.suppress(Exception):  # the call was given up; what its clean-up raises is nobody's answer
                await close()

    def _finish(self) -> None:
        self._over = True
        self._let_go.set()
        self._on_done(self)

    def _cancelled(self) -> RunCancelled:
        return RunCancelled("the run or the call was cancelled while the strategy waited for it")

    def _check_given_up(self) -> None:
        if self._given_up and self._result is None:
            raise self._cancelled()

    def _checked(self) -> Result:
        if self._result is None:
            raise ProtocolError("a call ended without a result; its answer was cut off")
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
        if self._given_up:
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
        self._check_given_up()

    async def _pump(self, line: Handoff[Item | Result | BaseException]) -> None:
        """Moves what the source gives into the line; ends when the source does or the call is given up."""
        if self._over:
            line.close()
            return
        self._reader = asyncio.current_task()
        try:
            async for value in self._source:
                await line.put_async(value, weight(value))
        except (HandoffClosed, asyncio.CancelledError):
            self._given_up = True
        except Exception as error:  # noqa: BLE001 - whatever the source raises belongs to the strategy's thread
            with contextlib.suppress(HandoffClosed):
                await line.put_async(error)
        finally:
            self._reader = None
            try:
                await self._close_source()
            finally:
                line.close()
                self._finish()

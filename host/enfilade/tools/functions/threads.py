"""Threads for tools that block: a bounded number, none of which holds up the end of the process."""

import asyncio
import contextlib
import contextvars
import threading
from collections import Counter, deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from enfilade_sdk.errors import LimitExceededError

T = TypeVar("T")

THREADS = 32
"""Calls of blocking tools that may be under way at once."""


class _Outcome(Generic[T]):
    """What a step gave or raised; carried whole, since a future refuses `StopIteration`."""

    __slots__ = ("error", "value")

    def __init__(self, value: T | None = None, error: BaseException | None = None) -> None:
        self.value = value
        self.error = error

    def get(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # set whenever there is no error


class Threads:
    """Lends threads, one to each call that blocks.

    A thread cannot be stopped. One whose call was given up is *abandoned*: it keeps its place, so that their number
    stays bounded, until its function returns. They are daemon threads: the process ends without them.

    Args:
        limit: How many there may be.
    """

    def __init__(self, limit: int = THREADS) -> None:
        self._limit = limit
        self._lent = 0
        self._idle: list[_Thread] = []
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._abandoned: Counter[str] = Counter()
        self._closed = False

    @property
    def abandoned(self) -> int:
        """How many threads are still in a call that was given up."""
        return self._abandoned.total()

    async def lend(self, name: str) -> "Lent":
        """A thread for the call of the tool of that name, once there is one.

        Raises:
            LimitExceededError: Every thread is held by calls that were given up and have not ended.
        """
        while self._lent >= self._limit:
            if self.abandoned >= self._limit:
                names = ", ".join(f"{tool} ({number})" for tool, number in self._abandoned.most_common(5))
                raise LimitExceededError(
                    f"all {self._limit} threads for tools are held by calls that were given up and never ended: {names}"
                )
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            finally:
                if turn in self._waiting:
                    self._waiting.remove(turn)
        self._lent += 1
        return Lent(self, self._idle.pop() if self._idle else _Thread(), name)

    def close(self) -> None:
        """Lets idle threads end."""
        self._closed = True
        while self._idle:
            self._idle.pop().end()

    def _abandon(self, name: str) -> None:
        self._abandoned[name] += 1
        self._wake_all()

    def _take_back(self, thread: "_Thread", abandoned: str | None) -> None:
        self._lent -= 1
        if abandoned is not None:
            self._abandoned[abandoned] -= 1
        if self._closed:
            thread.end()
        else:
            self._idle.append(thread)
        self._wake_all()

    def _wake_all(self) -> None:
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)


class Lent:
    """A thread lent to one call; all its steps run there, in the context of the lending."""

    def __init__(self, threads: Threads, thread: "_Thread", name: str) -> None:
        self._threads = threads
        self._thread = thread
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._steps = 0
        self._returned = False

    async def run(self, step: Callable[[], T]) -> T:
        """Runs a step in the thread and gives what it gives or raises what it raises."""
        done: asyncio.Future[_Outcome[T]] = self._loop.create_future()
        self._steps += 1
        self._thread.do(lambda: self._do(step, done))
        return (await done).get()

    def give_back(self, last: Callable[[], object] = lambda: None) -> None:
        """Gives the thread back after one last step; it is abandoned while it is still in an earlier one."""
        if self._returned:
            return
        self._returned = True
        abandoned = self._name if self._steps else None
        if abandoned is not None:
            self._threads._abandon(abandoned)  # noqa: SLF001 - of this file
        self._thread.do(lambda: self._end(last, abandoned))

    def _do(self, step: Callable[[], T], done: "asyncio.Future[_Outcome[T]]") -> None:
        outcome = self._outcome(step)
        self._post(lambda: self._deliver(done, outcome))

    def _deliver(self, done: "asyncio.Future[_Outcome[T]]", outcome: "_Outcome[T]") -> None:
        self._steps -= 1
        if not done.done():
            done.set_result(outcome)

    def _end(self, last: Callable[[], object], abandoned: str | None) -> None:
        self._outcome(last)
        self._post(lambda: self._threads._take_back(self._thread, abandoned))  # noqa: SLF001

    def _outcome(self, step: Callable[[], T]) -> "_Outcome[T]":
        try:
            return _Outcome(self._context.run(step))
        except KeyboardInterrupt as error:  # nobody's key: signals reach the main thread alone
            return _Outcome(error=RuntimeError(f"KeyboardInterrupt: {error}".rstrip(": ")))
        except BaseException as error:  # noqa: BLE001 - SystemExit of a tool ends its call, not its thread
            return _Outcome(error=error)

    def _post(self, callback: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(callback)


class _Thread:
    """A daemon thread that does what it is told, in order."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        threading.Thread(target=self._live, name="enfilade-tool", daemon=True).start()

    def do(self, work: Callable[[], Any]) -> None:
        self._work.put(work)

    def end(self) -> None:
        self._work.put(None)

    def _live(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            del work  # nothing of a call is held while waiting for the next

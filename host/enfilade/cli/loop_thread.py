"""An event loop in a thread of its own, so that the main thread hears every signal at once."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Generic, NoReturn, Self, TypeVar

from enfilade.cli.descendants import end_descendants
from enfilade.cli.exit_code import SIGNALLED
from enfilade.cli.signals import Interrupted, Signals

T = TypeVar("T")

STOP_SECONDS = 1.4
"""How long a cancelled work has to let go of everything; the process then ends without it, and the guardian (see
`enfilade.isolation.guardian`) ends the plugins. Together they stay below two seconds."""

_CLOSE_SECONDS = 1.0


class Job(Generic[T]):
    """A coroutine at work in the loop's thread.

    Attributes:
        done: Its end: what it gives or raises, `asyncio.CancelledError` too.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> None:
        self._loop = loop
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._given_up = False
        self.done: Future[T] = Future()
        loop.call_soon_threadsafe(self._start)

    def cancel(self) -> None:
        """Cancels it, from any thread and from a signal's action."""
        self._given_up = True
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._cancel)

    def _start(self) -> None:
        self._task = self._loop.create_task(self._work)
        self._task.add_done_callback(self._finish)
        if self._given_up:
            self._task.cancel()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _finish(self, task: "asyncio.Task[T]") -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self.done.set_result(task.result())
        else:
            self.done.set_exception(error)


class LoopThread:
    """Runs an event loop in a thread while it is entered."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ending = False
        self._thread = threading.Thread(target=self._live, name="enfilade-loop", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ending = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)

    def start(self, work: Coroutine[Any, Any, T]) -> Job[T]:
        """Starts a coroutine."""
        return Job(self._loop, work)

    def finish(
        self,
        work: Coroutine[Any, Any, T],
        signals: Signals,
        last_word: Callable[[], None] = lambda: None,
        *,
        forgiving: bool = False,
        stop_seconds: float = STOP_SECONDS,
    ) -> T:
        """Runs a coroutine to its end. A signal cancels it, and a second one ends the process on the spot.

        Args:
            work: The coroutine; it lets go of everything when it is cancelled.
            signals: What is heard meanwhile.
            last_word: Called, in any thread, before the process is ended over work that did not stop in time.
            forgiving: Whether the first Ctrl-C only cancels the work and does not count.
            stop_seconds: How long the cancelled work has to let go of everything.

        Raises:
            Interrupted: A signal came; the work has ended.
        """
        heard = _Heard(signals, last_word, stop_seconds, forgiving=forgiving)
        with signals.answered_by(heard.take):
            job = self.start(work)
            heard.cancels(job.cancel)
            try:
                signals.wait(job.done)
                result = job.done.result()
            except BaseException:
                heard.check()
                raise
        heard.check()
        return result

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._ending:
            with contextlib.suppress(SystemExit, KeyboardInterrupt):  # of some task's code; its own end, not the loop's
                self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        with contextlib.suppress(BaseException):
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


class _Heard:
    """Answers the signals that come while a job is at work."""

    def __init__(
        self, signals: Signals, last_word: Callable[[], None], stop_seconds: float, *, forgiving: bool
    ) -> None:
        self._signals = signals
        self._last_word = last_word
        self._stop_seconds = stop_seconds
        self._forgiving = forgiving
        self._forgiven = False
        self._numbers: list[int] = []
        self._cancel: Callable[[], None] = lambda: None

    def cancels(self, cancel: Callable[[], None]) -> None:
        """What a signal does to the job; a signal may have come before there was one."""
        self._cancel = cancel
        if self._numbers or self._forgiven:
            cancel()

    def take(self, number: int) -> None:
        self._cancel()
        if self._forgiving and number == signal.SIGINT and not self._numbers:
            self._forgiving = False
            self._forgiven = True
            return
        self._numbers.append(number)
        if len(self._numbers) > 1:
            leave(self._numbers[0], self._last_word)
        self._signals.later(self._stop_seconds, lambda: leave(number, self._last_word))

    def check(self) -> None:
        if self._numbers:
            raise Interrupted(self._numbers[0]) from None
        if self._forgiven:
            raise Interrupted(signal.SIGINT, final=False) from None


def leave(number: int, last_word: Callable[[], None]) -> NoReturn:
    """Ends the process now, whatever else is at work in it."""
    try:
        last_word()
        sys.stderr.flush()
        end_descendants()
    finally:
        os._exit(SIGNALLED + number)

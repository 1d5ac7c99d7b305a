"""What a run has under way: its open calls, and the answers that its strategy's thread waits for."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any

from enfilade_sdk.call import Call
from enfilade_sdk.errors import InternalError, RunCancelled


class OpenCalls:
    """The calls of one run, which end with it.

    Args:
        loop: Where they are answered.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: set[Call[Any, Any]] = set()
        self._waits: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether the run was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ends every open call and refuses new ones."""
        self._cancelled.set()
        with self._lock:
            calls, waits = list(self._calls), list(self._waits)
        for call in calls:
            call.cancel()
        for wait in waits:
            wait.cancel()

    async def close(self) -> None:
        """Gives up the calls that are still open and waits until they have let go."""
        self.cancel()
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            await call.aclose()

    def track(self, source: Any, end: type[Any]) -> Call[Any, Any]:
        """Opens a call over a source of the hatch.

        Raises:
            RunCancelled: The run was cancelled.
        """
        self.check_cancelled()
        call: Call[Any, Any] = Call(source, end, self._loop, self._forget)
        with self._lock:
            self._calls.add(call)
        if self.cancelled:  # it came in between
            call.cancel()
        return call

    def wait_for(self, answer: Coroutine[Any, Any, Any]) -> Any:
        """Waits in the strategy's thread for an answer from the loop.

        Raises:
            InternalError: This is the loop's own thread.
            RunCancelled: The run was cancelled, before or meanwhile.
        """
        try:
            self._check_thread()
            self.check_cancelled()
            future = asyncio.run_coroutine_threadsafe(answer, self._loop)
        except BaseException:
            answer.close()
            raise
        with self._lock:
            self._waits.add(future)
        try:
            if self.cancelled:  # it came in between
                future.cancel()
            return future.result()
        except CancelledError:
            raise RunCancelled("the run was cancelled while the strategy waited") from None
        finally:
            with self._lock:
                self._waits.discard(future)

    def check_cancelled(self) -> None:
        """Refuses what a cancelled run asks for.

        Raises:
            RunCancelled: The run was cancelled.
        """
        if self.cancelled:
            raise RunCancelled("the run was cancelled; no further calls are answered")

    def _check_thread(self) -> None:
        with contextlib.suppress(RuntimeError):
            if asyncio.get_running_loop() is self._loop:
                raise InternalError("a blocking form was used in an async strategy; write 'await' instead of 'wait()'")

    def _forget(self, call: Call[Any, Any]) -> None:
        with self._lock:
            self._calls.discard(call)

"""Work on an event loop of its own, waited for no longer than a bound."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


def run_bounded(work: Callable[[], Coroutine[Any, Any, T]], seconds: float) -> T:
    """Runs a coroutine in a thread with a loop of its own, so that it works anywhere and can be given up.

    Raises:
        TimeoutError: It is still at it; its thread (a daemon) is left behind.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(asyncio.run(work()))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            outcome.set_exception(error)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="enfilade-testing", daemon=True).start()
    return outcome.result(timeout=seconds)

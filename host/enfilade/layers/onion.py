"""Puts layers around one stream, and closes whatever they opened."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

R = TypeVar("R")
T = TypeVar("T")

Stream = AsyncGenerator[T, None]
CallNext = Callable[[R], Stream[T]]
Step = Callable[[R, CallNext[R, T]], Stream[T]]
"""One layer's method for one run."""

Named = tuple[str, Step[R, T]]
"""The same with the layer's name."""

_log = logging.getLogger(__name__)


class Onion(Generic[R, T]):
    """One call through the layers.

    Args:
        steps: The layers' methods, the outermost first.
        innermost: What they stand around.

    Attributes:
        innermost: The stream of what they stand around, once it was opened.
        opened: Every stream that was opened, with whose it is.
    """

    def __init__(self, steps: Sequence[Named[R, T]], innermost: CallNext[R, T]) -> None:
        self.innermost: Stream[T] | None = None
        self.opened: list[tuple[str, Stream[T]]] = []
        self._call_next = innermost
        self._outermost: CallNext[R, T] = self._innermost
        for name, step in reversed(steps):
            self._outermost = partial(self._around, name, step, self._outermost)

    def open(self, request: R) -> Stream[T]:
        """The outermost stream."""
        return self._outermost(request)

    async def close(self) -> None:
        """Closes every stream that was opened, the outermost first; a fault on the way is logged.

        Raises:
            BaseException: What is no fault, such as a cancellation; the rest is closed first.
        """
        failure: BaseException | None = None
        for _, stream in self.opened:
            try:
                await stream.aclose()
            except Exception as error:  # noqa: BLE001 - the others have to be closed too
                _log.warning("a layer failed while it was closed: %s: %s", type(error).__name__, error, exc_info=error)
            except BaseException as error:  # noqa: BLE001 - raised below
                failure = failure or error
        if failure is not None:
            raise failure

    def _innermost(self, request: R) -> Stream[T]:
        self.innermost = stream = self._call_next(request)
        self.opened.append(("", stream))
        return stream

    def _around(self, name: str, step: Step[R, T], call_next: CallNext[R, T], request: R) -> Stream[T]:
        stream = step(request, call_next)
        if not self.opened or stream is not self.opened[-1][1]:  # else it only passes on what comes next
            self.opened.append((name, stream))
        return stream

"""Ctrl-C, SIGTERM and a closed terminal, heard in the main thread."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, Self

from enfilade.cli.exit_code import SIGNALLED

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal ended the command, or (not `final`) only what it was doing."""

    def __init__(self, number: int, *, final: bool = True) -> None:
        super().__init__(number)
        self.number = number
        self.final = final

    @property
    def exit_code(self) -> int:
        """128 and the signal's number."""
        return SIGNALLED + self.number


class Signals:
    """Hears the signals while it is entered: raises `Interrupted`, or does what was agreed for the moment."""

    def __init__(self) -> None:
        self._action: Callable[[int], None] | None = None
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in HEARD:
            former = signal.getsignal(number)
            if number == signal.SIGHUP and former == signal.SIG_IGN:  # nohup
                continue
            self._former[number] = former
            signal.signal(number, self._hear)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)

    @contextlib.contextmanager
    def answered_by(self, action: Callable[[int], None]) -> Iterator[None]:
        """Calls an action with the signal's number instead of raising. It runs in the main thread, at any moment."""
        former, self._action = self._action, action
        try:
            yield
        finally:
            self._action = former

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._action is None:
            raise Interrupted(number)
        self._action(number)

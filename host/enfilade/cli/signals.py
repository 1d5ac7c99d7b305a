"""Ctrl-C, SIGTERM and a closed terminal, heard in the main thread."""

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import FrameType, TracebackType
from typing import Any, Self

from enfilade.cli.exit_code import SIGNALLED

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_NUDGE = signal.SIGURG
"""Means nothing here and wakes the main thread from whatever it waits for."""

_NUDGES = 10
_NUDGE_SECONDS = 0.02


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
        self._former_wakeup = -1
        self._timers: list[threading.Timer] = []
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)

    def __enter__(self) -> Self:
        self._former_wakeup = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        for number in HEARD:
            former = signal.getsignal(number)
            if number == signal.SIGHUP and former == signal.SIG_IGN:  # nohup
                continue
            self._former[number] = former
            signal.signal(number, self._hear)
        self._former[_NUDGE] = signal.signal(_NUDGE, lambda *_: None)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for timer in self._timers:
            timer.cancel()
        for number, former in self._former.items():
            signal.signal(number, former)
        signal.set_wakeup_fd(self._former_wakeup)
        self._ear.close()
        self._mouth.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Lets the main thread read from a terminal or a pipe.

        Python hears a signal when the reading is broken off by it. One that comes a moment before would be heard at
        the next key only, so a thread breaks the reading off once more.
        """
        over = threading.Event()
        nudger = threading.Thread(target=self._nudge, args=(threading.get_ident(), over), daemon=True)
        nudger.start()
        try:
            yield
        finally:
            over.set()
            self._wake()
            nudger.join()

    def _nudge(self, thread: int, over: threading.Event) -> None:
        while not over.is_set():
            heard = self._ear.recv(64)
            came = any(number in heard for number in HEARD)
            for _ in range(_NUDGES if came else 0):
                if not over.wait(_NUDGE_SECONDS):
                    signal.pthread_kill(thread, _NUDGE)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Does something in a thread of its own, unless the signals are left before."""
        timer = threading.Timer(seconds, action)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()

    def wait(self, done: Future[Any]) -> None:
        """Waits until a future is done; a signal is heard meanwhile.

        Waiting for a lock would not do: a signal that comes just before it, or to another thread, wakes nobody.
        """
        done.add_done_callback(lambda _: self._wake())
        while not done.done():
            self._ear.recv(64)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # full: it wakes all the same
            self._mouth.send(b"\0")

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

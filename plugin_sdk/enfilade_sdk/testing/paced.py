"""A strategy whose generator goes from yield to yield only when it is let."""

import inspect
import threading
from collections.abc import Generator
from contextlib import closing
from functools import wraps
from typing import Any


class Gate:
    """Lets a thread through once for each time it is told to, and always after it was opened."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._passes = 0
        self._is_open = False

    def let(self) -> None:
        """Lets one step pass."""
        with self._changed:
            self._passes += 1
            self._changed.notify_all()

    def open(self) -> None:
        """Lets everything pass from now on."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()

    def pass_through(self) -> None:
        """Waits to be let."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_open or self._passes > 0)
            self._passes -= 1


class Paced:
    """Passes everything on to a strategy; a plain generator of its waits at the gate before each step.

    A plain generator runs in a thread, ahead of whoever takes its messages; so paced, it runs in step with them.
    """

    def __init__(self, strategy: Any, gate: Gate) -> None:
        self._strategy = strategy
        self.invoke = strategy.invoke if inspect.isasyncgenfunction(strategy.invoke) else _paced(strategy.invoke, gate)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)


def _paced(inner: Any, gate: Gate) -> Any:
    @wraps(inner)
    def invoke(**keywords: Any) -> Any:
        gate.pass_through()
        produced = inner(**keywords)
        return _steps(produced, gate) if inspect.isgenerator(produced) else produced

    return invoke


def _steps(produced: Generator[Any, Any, Any], gate: Gate) -> Generator[Any, None, None]:
    with closing(produced):
        for value in produced:
            yield value
            gate.pass_through()

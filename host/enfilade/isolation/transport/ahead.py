"""Run streams opened ahead: opening one costs about two round trips, which no run should wait for."""

import asyncio
from collections import deque
from collections.abc import Callable

from enfilade.isolation.transport.grpc_stream import GrpcRunStream

AHEAD = 4
"""Streams that wait, opened, for a run."""

REFILL_SECONDS = 0.002
"""How long after a run's start the stream it took is replaced: a short run is over by then."""


class StreamsAhead:
    """Keeps a few streams open; each serves one run."""

    def __init__(self, open_stream: Callable[[], GrpcRunStream], ahead: int = AHEAD) -> None:
        self._open = open_stream
        self._ahead = ahead
        self._waiting: deque[GrpcRunStream] = deque()
        self._refill: asyncio.Handle | None = None
        self._closed = False

    def take(self) -> GrpcRunStream:
        """An open stream; another one takes its place a little later."""
        self._schedule()
        while self._waiting:
            stream = self._waiting.popleft()
            if not stream.done:
                return stream
        return self._open()

    def fill(self) -> None:
        """Opens as many as are missing."""
        self._refill = None
        while len(self._waiting) < self._ahead and not self._closed:
            self._waiting.append(self._open())

    def close(self) -> None:
        """Gives up the waiting streams."""
        self._closed = True
        if self._refill is not None:
            self._refill.cancel()
        while self._waiting:
            self._waiting.pop().cancel()

    def _schedule(self) -> None:
        if self._refill is None and not self._closed:
            self._refill = asyncio.get_running_loop().call_later(REFILL_SECONDS, self.fill)

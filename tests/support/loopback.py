"""What the test servers share: listening on loopback, a task for each connection, requests as they arrive."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

SECONDS = 30.0
"""How long any wait may take; a machine with much else to do is slow."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived; header names are lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader, ahead: bytes = b"") -> Request:
    """The next request of a connection.

    Args:
        reader: The connection.
        ahead: What was read of it before.

    Raises:
        asyncio.IncompleteReadError: The client is gone.
    """
    head = (ahead + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
    return Request(method, target, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


class Loopback:
    """A server on loopback; what it does with a connection is up to `serve`.

    Attributes:
        limit: The most bytes of a head.
    """

    limit = 2**16

    def __init__(self) -> None:
        self._port = 0
        self._changed = asyncio.Condition()
        self._handlers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Listens; where it has listened before, at the same port."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, limit=self.limit)
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Breaks every connection and listens no more."""
        assert self._server is not None
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def origin(self) -> str:
        """Where clients find it."""
        assert self._port
        return f"http://127.0.0.1:{self._port}"

    async def until(self, holds: Callable[[], bool], seconds: float = SECONDS) -> None:
        """Waits until something holds of this server."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(holds)

    async def tell(self) -> None:
        """Says that something has changed that somebody may wait for."""
        async with self._changed:
            self._changed.notify_all()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection to its end."""
        raise NotImplementedError

    def leave(self, writer: asyncio.StreamWriter) -> None:
        """Lets go of a connection."""
        writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        try:
            await self.serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._handlers.discard(task)
            self.leave(writer)

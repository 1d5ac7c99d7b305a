"""A real HTTP interface on loopback: keeps what it was asked, and answers what it is told to."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, unquote


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived; header names are lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path, as it was written."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters of the query, in order."""
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What to answer."""

    body: bytes = b"{}"
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


class InterfaceServer:
    """Answers `{}` to everything, save where `answers` has something else for a `METHOD /path`."""

    def __init__(self, answers: Mapping[str, Answer | Callable[[Asked], Answer]] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[Asked] = []
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        """Where it is."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        try:
            asked = await _read(reader)
            self.asked.append(asked)
            chosen = self.answers.get(f"{asked.method} {unquote(asked.path)}", Answer())
            answer = chosen if isinstance(chosen, Answer) else chosen(asked)
            headers = {"content-length": str(len(answer.body)), "connection": "close", **answer.headers}
            lines = [f"HTTP/1.1 {answer.status} Told", *(f"{name}: {value}" for name, value in headers.items())]
            lines += [f"content-type: {answer.kind}"] if answer.kind else []
            writer.write("\r\n".join([*lines, "", ""]).encode() + answer.body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._handlers.discard(task)
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
    return Asked(method, target, headers, await reader.readexactly(int(headers.get("content-length", "0"))))

"""A real HTTP interface on loopback: keeps what it was asked, and answers what it is told to."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.support.loopback import Loopback, Request, read_request


class Asked(Request):
    """A request as it arrived."""

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


class InterfaceServer(Loopback):
    """Answers `{}` to everything, save where `answers` has something else for a `METHOD /path`."""

    def __init__(self, answers: Mapping[str, Answer | Callable[[Asked], Answer]] | None = None) -> None:
        super().__init__()
        self.answers = dict(answers or {})
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        """Where it is."""
        return self.origin

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request."""
        request = await read_request(reader)
        asked = Asked(request.method, request.target, request.headers, request.body)
        self.asked.append(asked)
        chosen = self.answers.get(f"{asked.method} {unquote(asked.path)}", Answer())
        answer = chosen if isinstance(chosen, Answer) else chosen(asked)
        headers = {"content-length": str(len(answer.body)), "connection": "close", **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Told", *(f"{name}: {value}" for name, value in headers.items())]
        lines += [f"content-type: {answer.kind}"] if answer.kind else []
        writer.write("\r\n".join([*lines, "", ""]).encode() + answer.body)
        await writer.drain()

"""An MCP server behind HTTP on loopback, without any library, that goes wrong in the way it is told."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.loopback import Loopback, read_request
from tests.support.mcp_server.good import tool

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Json

    @property
    def asked(self) -> str:
        """The method of the message in it; empty where there is none."""
        return str(self.body.get("method", ""))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it is written: whole, or the head and events, and when `hold` ends the late events."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    events: tuple[str, ...] | None = None
    hold: asyncio.Event | None = None
    late_events: tuple[str, ...] = ()


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """A reply in JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, {"content-type": "application/json", **named}, json.dumps(value).encode())


def event(message: Json, event_id: str = "") -> str:
    """A message as an event."""
    return (f"id: {event_id}\n" if event_id else "") + f"data: {json.dumps(message)}\n\n"


def result(seen: Seen, value: Any) -> Json:
    """The answer to the request."""
    return {"jsonrpc": "2.0", "id": seen.body.get("id"), "result": value}


def text_result(seen: Seen, text: str) -> Json:
    """The answer to a call, a text."""
    return result(seen, {"content": [{"type": "text", "text": text}]})


class McpHttp(Loopback):
    """Answers as a good server does, save where `answers` has something else for a method.

    Args:
        answers: What to answer, by the method of the message, or by `GET` and `DELETE`; None leaves it to the server.
        session: The session's id; empty for a server without sessions.
        events: Whether it answers in events.

    Attributes:
        seen: What was asked so far.
    """

    def __init__(
        self,
        answers: Mapping[str, Callable[[Seen], Reply | None]] | None = None,
        *,
        session: str = "",
        events: bool = False,
        tools: tuple[Json, ...] = (tool("quick"), tool("slow")),
    ) -> None:
        super().__init__()
        self.answers = dict(answers or {})
        self.session = session
        self.tools = list(tools)
        self.seen: list[Seen] = []
        self.broken = 0
        self._events = events
        self._streams: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{self.origin}/mcp"

    def of(self, asked: str) -> list[Seen]:
        """The requests with messages of that method, or of that method of HTTP."""
        return [seen for seen in self.seen if asked in (seen.asked, seen.method)]

    async def push(self, message: Json, event_id: str = "") -> None:
        """Says something unasked, on the streams that were opened for that."""
        await self.until(lambda: bool(self._streams))
        for stream in self._streams:
            stream.write(event({"jsonrpc": "2.0", **message}, event_id).encode())

    def drop_streams(self) -> None:
        """Breaks the streams on which it says things unasked."""
        for stream in self._streams:
            stream.close()
        self._streams.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request, or holds the stream that it opens."""
        request = await read_request(reader)
        body = json.loads(request.body) if request.body else {}
        seen = Seen(request.method, request.target, request.headers, body)
        self.seen.append(seen)
        await self.tell()
        reply = self._reply(seen)
        if reply is None:
            await self._stream(reader, writer)
        else:
            await self._write(reader, writer, reply)

    def leave(self, writer: asyncio.StreamWriter) -> None:
        """Breaks a stream, closes any other connection."""
        writer.transport.abort() if writer in self._streams else writer.close()

    def _reply(self, seen: Seen) -> Reply | None:
        """What to answer; None opens a stream for what is said unasked."""
        chosen = self.answers.get(seen.asked or seen.method)
        if chosen is not None and (reply := chosen(seen)) is not None:
            return reply
        if seen.method != "POST":
            return None if seen.method == "GET" else Reply(200)
        if self.session and seen.asked != "initialize" and seen.headers.get("mcp-session-id") != self.session:
            return json_reply({"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "no such thing"}}, 404)
        if "id" not in seen.body or not seen.asked:
            return Reply(202)
        return self._answer(seen)

    def _answer(self, seen: Seen) -> Reply:
        if seen.asked == "initialize":
            info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
            headers = {"mcp_session_id": self.session} if self.session else {}
            return json_reply(result(seen, info), 200, **headers)
        if seen.asked == "tools/list":
            message = result(seen, {"tools": self.tools})
        else:
            message = text_result(seen, f"{seen.body['params']['name']} was called")
        return Reply(events=(event(message),)) if self._events else json_reply(message)

    async def _stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        self._streams.append(writer)
        await self.tell()
        await reader.read()

    async def _write(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply) -> None:
        streamed = reply.events is not None
        kind = {"content-type": "text/event-stream"} if streamed else {"content-length": str(len(reply.body))}
        lines = [f"{name}: {value}" for name, value in {**kind, **reply.headers, "connection": "close"}.items()]
        writer.write("\r\n".join([f"HTTP/1.1 {reply.status} Scripted", *lines, "", ""]).encode())
        writer.write("".join(reply.events or ()).encode() + reply.body)
        await writer.drain()
        if reply.hold is not None:
            held, gone = asyncio.create_task(reply.hold.wait()), asyncio.create_task(reader.read())
            await asyncio.wait({held, gone}, return_when=asyncio.FIRST_COMPLETED)
            self.broken += gone.done()
            writer.write("".join(reply.late_events).encode())
            held.cancel()
            gone.cancel()
            await self.tell()

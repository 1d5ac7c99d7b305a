"""A real OpenAI-compatible HTTP server on loopback that plays scripted turns.

In a test: `async with ModelServer([text_turn("Hello.")]) as server: ...server.base_url, server.requests`.
As a process: `python -m tests.support.model_server script.json [--record FILE]` prints its base URL on the first line
and serves until its standard input ends. The script holds the keys of `script_server`.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.loopback import Loopback, Request, read_request
from tests.support.model_rules import RULES, Rule, lacks
from tests.support.model_turns import Json, Turn, cut_at_stop, error_turn, stream_parts, turn_from_json, whole_body

Chooser = Callable[[Json], Turn]
_PATHS = ("/v1/chat/completions", "/v1/completions")


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived; header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: Json


class _Peer:
    """One connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._reader = reader
        self._ahead = b""

    async def request(self) -> Request | None:
        """The next request; None when the client is gone."""
        ahead, self._ahead = self._ahead, b""
        try:
            return await read_request(self._reader, ahead)
        except asyncio.IncompleteReadError:
            return None

    async def gone(self) -> None:
        """Ends when the client closes the connection; what it sends ahead is kept for `request`."""
        while got := await self._reader.read(1):
            self._ahead += got


class ModelServer(Loopback):
    """Plays turns, one for each request it accepts.

    Args:
        turns: What to answer, in order; a function is given the request and makes the turn.
        repeat_last: Whether the last turn is given again for ever.
        rules: Each may refuse a request; its text comes back with status 400.
        apply_stop: Whether scripted text ends at the request's stop words.
        by_round: Whether the turn is chosen by how many rounds the conversation has behind it, instead of by the
            order of requests, so that many runs can be served at once.

    Attributes:
        requests: What was asked so far.
        refused: What the rules said.
        dropped: How many answers the client broke off.
        connections: How many connections were opened.
    """

    limit = 2**26

    def __init__(
        self,
        turns: Sequence[Turn | Chooser] = (),
        *,
        repeat_last: bool = False,
        rules: Sequence[Rule] = (),
        apply_stop: bool = False,
        by_round: bool = False,
    ) -> None:
        super().__init__()
        self.turns = list(turns)
        self.requests: list[Seen] = []
        self.refused: list[str] = []
        self.dropped = 0
        self.connections = 0
        self._played = 0
        self._repeat_last = repeat_last
        self._rules = list(rules)
        self._apply_stop = apply_stop
        self._by_round = by_round

    @property
    def base_url(self) -> str:
        """Where clients find it."""
        return f"{self.origin}/v1"

    @property
    def bodies(self) -> list[Json]:
        """The bodies of all requests so far."""
        return [seen.body for seen in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request after another."""
        self.connections += 1
        peer = _Peer(reader, writer)
        while await self._exchange(peer):
            pass

    def leave(self, writer: asyncio.StreamWriter) -> None:
        """Breaks the connection."""
        writer.transport.abort()

    async def _exchange(self, peer: _Peer) -> bool:
        """Serves one request; False ends the connection."""
        request = await peer.request()
        if request is None:
            return False
        method, path = request.method, request.target
        if (method, path) == ("GET", "/v1/models"):
            return await self._send(peer, Turn(body={"object": "list", "data": [{"id": "scripted"}]}), {}, path)
        if method != "POST" or path.partition("?")[0] not in _PATHS:
            return await self._send(peer, error_turn(404, {"error": {"message": f"no route {path}"}}), {}, path)
        seen = Seen(path, request.headers, json.loads(request.body))
        turn = self._answer(seen)
        await self.tell()
        return await self._send(peer, turn, seen.body, path)

    def _answer(self, seen: Seen) -> Turn:
        self.requests.append(seen)
        for rule in self._rules:
            if (fault := rule(seen.body)) is not None:
                self.refused.append(fault)
                return error_turn(400, {"error": {"message": fault, "type": "invalid_request_error"}})
        number = _rounds(seen.body) if self._by_round else self._played
        self._played += 1
        if number >= len(self.turns):
            if not self._repeat_last or not self.turns:
                return error_turn(418, {"error": {"message": f"the script has no turn {number + 1}"}})
            number = len(self.turns) - 1
        turn = self.turns[number]
        turn = turn if isinstance(turn, Turn) else turn(seen.body)
        return cut_at_stop(turn, seen.body.get("stop")) if self._apply_stop and turn.text else turn

    async def _send(self, peer: _Peer, turn: Turn, request: Json, path: str) -> bool:
        write = asyncio.create_task(self._write(peer.writer, turn, request, path))
        gone = asyncio.create_task(peer.gone())
        try:
            await asyncio.wait({gone, write}, return_when=asyncio.FIRST_COMPLETED)
            if write.done():
                write.result()
                return turn.end == "whole"
            self.dropped += 1
            await self.tell()
            return False
        finally:
            for task in (write, gone):
                task.cancel()
            await asyncio.gather(write, gone, return_exceptions=True)

    async def _write(self, writer: asyncio.StreamWriter, turn: Turn, request: Json, path: str) -> None:
        await asyncio.sleep(turn.delay)
        completion = "/chat/" not in path
        streamed = turn.raw is not None or turn.events is not None or (turn.body is None and turn.status < 400)
        if not streamed or (request.get("stream") is not True and turn.raw is None and turn.events is None):
            body = whole_body(turn, completion=completion)
            kind = "text/html" if body.startswith(b"<") else "application/json"
            writer.write(_head(turn, {"content-type": kind, "content-length": str(len(body))}) + body)
            await writer.drain()
        else:
            await self._stream(writer, turn, completion=completion)
        if turn.end == "hang":
            await asyncio.Event().wait()

    async def _stream(self, writer: asyncio.StreamWriter, turn: Turn, *, completion: bool) -> None:
        writer.write(_head(turn, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
        for part in stream_parts(turn, completion=completion):
            if part:
                writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            await writer.drain()
            if turn.pause:
                await asyncio.sleep(turn.pause)
        if turn.end == "whole":
            writer.write(b"0\r\n\r\n")
        await writer.drain()


def _head(turn: Turn, headers: Mapping[str, str]) -> bytes:
    fields = {**headers, **{name.lower(): value for name, value in turn.headers.items()}}
    lines = [f"HTTP/1.1 {turn.status} Scripted", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _rounds(request: Json) -> int:
    """How many replies the conversation holds since the user's last message."""
    roles = [message["role"] for message in request.get("messages", [])]
    last = len(roles) - 1 - roles[::-1].index("user") if "user" in roles else -1
    return roles[last + 1 :].count("assistant")


def script_server(script: Mapping[str, Any]) -> ModelServer:
    """A server from a script: `turns`, `repeat_last`, `apply_stop`, `by_round`, `rules` (names of `model_rules.RULES`),
    `reject_if_request_has` (field names)."""
    rules: list[Rule] = [RULES[name] for name in script.get("rules", [])]
    if refused := script.get("reject_if_request_has"):
        rules.append(lacks(*([refused] if isinstance(refused, str) else refused)))
    switches = {name: bool(script.get(name)) for name in ("repeat_last", "apply_stop", "by_round")}
    return ModelServer([turn_from_json(turn) for turn in script.get("turns", [])], rules=rules, **switches)


async def _serve(script: Json) -> list[Seen]:
    async with script_server(script) as server:
        sys.stdout.write(server.base_url + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        return server.requests


def main() -> None:
    """Serves a script file until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", type=Path)
    parser.add_argument("--record", type=Path, help="where to write the requests, one JSON object a line, at the end")
    given = parser.parse_args()
    seen = asyncio.run(_serve(json.loads(given.script.read_text(encoding="utf-8"))))
    if given.record is not None:
        lines = [json.dumps({"path": s.path, "headers": dict(s.headers), "body": s.body}) for s in seen]
        given.record.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()

"""The streamable HTTP transport: each request is a POST, answered by JSON or by a stream of events.

Versions up to 2025-11-25 may have a session, and a stream of its own (GET) for what the server has to say unasked. In
the version without a beginning, headers say what a request is about, and closing its stream cancels it.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from enfilade.tools.fault import masked
from enfilade.tools.json_value import compact_json
from enfilade.tools.mcp.event_stream import EventStream
from enfilade.tools.mcp.failure import McpError, SessionGoneError
from enfilade.tools.mcp.lines import LINE_LIMIT, Allowance
from enfilade.tools.mcp.message import Answer, JsonObject, notification, read_message
from enfilade.tools.mcp.parameter_headers import ParameterHeaders, header_value
from enfilade.tools.mcp.transport import Inbox
from enfilade.tools.web_client import beginning_of, body_of, web_client

if TYPE_CHECKING:
    import httpx2

CLOSE_SECONDS = 2.0
"""Seconds for telling a server that its session is over."""

_ERROR_BYTES = 64 * 1024
_MOST_EXCERPT = 500
_MOST_TASKS = 1_000
_EVENTS = "text/event-stream"
_SESSION = "mcp-session-id"
_OK, _REDIRECT, _ERROR, _NOT_FOUND, _BAD_REQUEST = 200, 300, 400, 404, 400
_HINTS = {401: ": it wants to know who asks, see headers_env", 403: ": whoever asks with these headers may not"}


class HttpTransport:
    """Speaks with a server behind an address.

    Args:
        server: The server's name, for texts.
        url: Its address.
        headers: Headers of every request.
        secrets: Texts that no error may show.
    """

    def __init__(self, server: str, url: str, headers: Mapping[str, str], secrets: frozenset[str]) -> None:
        self._parameter_headers = ParameterHeaders()
        self._server = server
        self._url = url
        self._headers = dict(headers)
        self._secrets = secrets
        self._session = ""
        self._version = ""
        self._stateless = False
        self._client: httpx2.AsyncClient | None = None
        self._inbox: Inbox | None = None
        self._posts: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._allowance = Allowance()

    async def open(self, inbox: Inbox) -> None:
        """Makes the client; nothing is sent yet."""
        self._inbox = inbox
        self._client = await web_client(self._url, headers=self._headers)

    async def ready(self) -> None:
        """Each request has a connection of its own, so none waits for another."""

    def send(self, message: JsonObject) -> None:
        """Sends a message in a task of its own; an answer to a server that asks too much is dropped."""
        number = message.get("id") if "method" in message else None
        if "method" not in message and len(self._tasks) > _MOST_TASKS:
            return
        self._spawn(self._post(message) if number is None else self._request(message, number), number)

    def cancel(self, number: int, reason: str) -> None:
        """Closes the request's stream, and says why where that does not say it."""
        if not self._stateless:
            self.send(notification("notifications/cancelled", {"requestId": number, "reason": reason}))
        if (post := self._posts.get(number)) is not None:
            post.cancel()

    async def agreed(self, version: str, *, stateless: bool) -> None:
        """Names the version from now on, and listens to what the server says unasked."""
        self._version, self._stateless = version, stateless
        if not stateless:
            self._spawn(self._listen())

    def listed(self, tools: list[JsonObject]) -> None:
        """Takes note of the parameters that go into headers."""
        self._parameter_headers.learn(tools)

    def last_words(self) -> str:
        """Nothing: all that it said is in its answers."""
        return ""

    async def close(self) -> None:
        """Ends the session and closes the connections."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        client, self._client = self._client, None
        if client is None:
            return
        if self._session:
            with contextlib.suppress(Exception):  # it is over in any case
                async with asyncio.timeout(CLOSE_SECONDS):
                    await client.delete(self._url, headers=self._named({}))
        await client.aclose()

    def _spawn(self, work: Coroutine[None, None, None], number: int | None = None) -> None:
        task = asyncio.create_task(work, name=f"MCP server {self._server}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if number is not None:
            self._posts[number] = task
            task.add_done_callback(lambda _: self._posts.pop(number, None))

    async def _request(self, message: JsonObject, number: int) -> None:
        """Sends a request and puts its answer, or why there is none, into the inbox."""
        assert self._inbox is not None
        error: Exception = self._fault("ended its reply without an answer to the request")
        try:
            async with self._posted(message) as response:
                await self._read(response, number)
        except SessionGoneError as gone:
            self._inbox.lose(gone)
        except McpError as fault:
            error = fault
        except Exception as fault:  # noqa: BLE001 - whatever a client raises, the caller must not wait for ever
            error = self._fault(f"could not be reached: {_words(fault)}")
        self._inbox.fail(number, error)  # where it was answered, this says nothing new

    async def _post(self, message: JsonObject) -> None:
        """Sends what has no answer; where it is lost, the next request will tell."""
        with contextlib.suppress(Exception):
            async with self._posted(message):
                pass

    @asynccontextmanager
    async def _posted(self, message: JsonObject) -> "AsyncIterator[httpx2.Response]":
        headers = self._named(message) | {"content-type": "application/json"}
        content = compact_json(message).encode()
        async with self._opened.stream("POST", self._url, content=content, headers=headers) as response:
            if message.get("method") == "initialize" and response.status_code == _OK:
                self._session = response.headers.get(_SESSION, "")
            yield response

    async def _read(self, response: "httpx2.Response", number: int) -> None:
        if response.status_code >= _REDIRECT:
            await self._refused(response, number)
            return
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == _EVENTS:
            async with aclosing(EventStream(self._reopened).data(response)) as events:
                await self._take(events, number)
        elif kind == "application/json":
            self._deliver(_json(await body_of(response, LINE_LIMIT, self._too_large)))
        elif response.status_code == _OK:
            raise self._fault(f"answered with {kind or 'no content type'} where JSON or events were expected")

    async def _listen(self) -> None:
        """Reads what the server says unasked, as long as it has such a stream."""
        stream = EventStream(self._reopened, endless=True)
        with contextlib.suppress(Exception):  # many servers have none; requests tell what is wrong with the others
            async with aclosing(stream.data()) as events:
                await self._take(events, None)

    @asynccontextmanager
    async def _reopened(self, last_id: str) -> "AsyncIterator[httpx2.Response]":
        headers = self._named({}) | {"accept": _EVENTS} | ({"last-event-id": last_id} if last_id else {})
        async with self._opened.stream("GET", self._url, headers=headers) as response:
            if response.status_code != _OK:
                raise self._fault(f"does not go on with its stream: HTTP {response.status_code}")
            yield response

    async def _take(self, events: AsyncGenerator[str, None], number: int | None) -> None:
        """Puts messages into the inbox, up to the answer to the request of that number."""
        async for data in events:
            value = _json(data)
            if not self._deliver(value):
                self._allowance.spend(len(data))
                await asyncio.sleep(self._allowance.pause())
            message = read_message(value)
            if number is not None and isinstance(message, Answer) and message.number == number:
                return

    def _deliver(self, value: object) -> bool | None:
        assert self._inbox is not None
        return self._inbox.receive(value)

    async def _refused(self, response: "httpx2.Response", number: int) -> None:
        """Says why a request was refused, in the server's words where there are some."""
        status, target = response.status_code, response.headers.get("location")
        if status < _ERROR:
            raise self._fault(f"is elsewhere (HTTP {status}): put {target or 'its new address'} into its url")
        body = await beginning_of(response, _ERROR_BYTES)
        text = body.decode("utf-8", "replace").strip()
        if self._session and (status == _NOT_FOUND or (status == _BAD_REQUEST and "session" in text.lower())):
            raise SessionGoneError(f"the MCP server {self._server!r} knows this session no more")
        answer = _json(body)
        if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
            self._deliver({**answer, "jsonrpc": "2.0", "id": number})
            return
        hint = _HINTS.get(status, "")
        raise self._fault(f"answered HTTP {status} {response.reason_phrase}{hint}{self._excerpt(text)}")

    def _too_large(self) -> McpError:
        return self._fault(f"sent a reply of more than {LINE_LIMIT:,} bytes")

    def _named(self, message: JsonObject) -> dict[str, str]:
        """The headers of a message."""
        headers = {"accept": f"application/json, {_EVENTS}"}
        if self._session:
            headers[_SESSION] = self._session
        if self._version:
            headers["mcp-protocol-version"] = self._version
        if self._stateless and "method" in message:
            headers["mcp-method"] = message["method"]
            params: dict[str, Any] = message.get("params") or {}
            if message["method"] == "tools/call":
                headers["mcp-name"] = header_value(params["name"])
                headers |= self._parameter_headers.of(params["name"], params["arguments"])
        return headers

    @property
    def _opened(self) -> "httpx2.AsyncClient":
        if self._client is None:
            raise self._fault("was closed")
        return self._client

    def _fault(self, what: str) -> McpError:
        return McpError(masked(f"the MCP server {self._server!r} {what}", self._secrets))

    def _excerpt(self, text: str) -> str:
        shown = " ".join(text.split())
        return f": {shown[:_MOST_EXCERPT]}" if shown else ""


def _json(data: str | bytes) -> object:
    try:
        return json.loads(data.decode("utf-8", "replace") if isinstance(data, bytes) else data)
    except (ValueError, RecursionError):
        return None


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")

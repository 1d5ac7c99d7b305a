"""Keeps requests and answers together on one connection."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from enfilade.tools.mcp.failure import McpRefusal
from enfilade.tools.mcp.message import (
    Answer,
    Asked,
    JsonObject,
    Told,
    answer,
    notification,
    read_message,
    refusal,
    request,
)
from enfilade.tools.mcp.transport import Transport

PACE = 0.1
"""Seconds between two news of a request's progress, however often the server tells of it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a request is, in the server's words."""

    done: float
    total: float | None = None
    message: str = ""


class Peer:
    """The server as its client sees it: takes requests, gives answers, in whatever order they come.

    Args:
        server: The server's name, for texts.
        transport: The way to it.
        told: Called with each notification of the server's that belongs to no request.
        secrets: Texts that no error may show.
    """

    def __init__(
        self,
        server: str,
        transport: Transport,
        told: Callable[[str, JsonObject], None],
        secrets: frozenset[str] = frozenset(),
    ) -> None:
        self._server = server
        self._secrets = secrets
        self._transport = transport
        self._told = told
        self._open: dict[int, OpenRequest] = {}
        self._last = 0
        self._lost: Exception | None = None
        self._ended = asyncio.Event()
        self.meta: JsonObject = {}
        """What goes with every request as `_meta`."""

    @property
    def lost(self) -> Exception | None:
        """Why nothing more can come; None while the connection stands."""
        return self._lost

    async def ended(self) -> None:
        """Waits until nothing more can come."""
        await self._ended.wait()

    def open(self, method: str, params: JsonObject | None = None, *, cancellable: bool = True) -> "OpenRequest":
        """A request, sent when it is entered as a context.

        Args:
            method: What is asked.
            params: With which parameters.
            cancellable: Whether the server is told when nobody waits any more.
        """
        return OpenRequest(self, method, params or {}, cancellable=cancellable)

    async def ask(self, method: str, params: JsonObject | None = None, *, cancellable: bool = True) -> JsonObject:
        """Makes a request and waits for its result.

        Raises:
            McpError: The server refused, or has broken off.
        """
        async with self.open(method, params, cancellable=cancellable) as asked:
            return await asked.result()

    def tell(self, method: str, params: JsonObject | None = None) -> None:
        """Sends a notification."""
        self._transport.send(notification(method, params))

    def listed(self, tools: list[JsonObject]) -> None:
        """Takes note of the server's tools."""
        self._transport.listed(tools)

    def receive(self, value: object) -> bool | None:
        """Takes in a JSON value from the server (see `Inbox`)."""
        if isinstance(value, list) and value:
            taken = [self.receive(part) for part in value if not isinstance(part, list)]
            return None if not taken or all(one is None for one in taken) else any(taken)
        message = read_message(value)
        if isinstance(message, Answer):
            return self._answered(message)
        if isinstance(message, Asked):
            self._transport.send(
                answer(message.id, {}) if message.method == "ping" else refusal(message.id, message.method)
            )
            return False
        if isinstance(message, Told):
            return self._noticed(message)
        return None

    def fail(self, number: int, error: Exception) -> None:
        """Ends one open request (see `Inbox`)."""
        if (waiting := self._open.get(number)) is not None:
            waiting.settle(error)

    def lose(self, error: Exception) -> None:
        """Ends every open request (see `Inbox`)."""
        if self._lost is None:
            self._lost = error
            for waiting in list(self._open.values()):
                waiting.settle(error)
            self._ended.set()

    async def admit(self, waiting: "OpenRequest") -> int:
        """Sends a request; gives its number.

        Raises:
            McpError: The connection is gone.
        """
        await self._transport.ready()
        if self._lost is not None:
            raise self._lost
        self._last += 1
        self._open[self._last] = waiting
        params = dict(waiting.params)
        if self.meta or waiting.wants_progress:
            token = {"progressToken": self._last} if waiting.wants_progress else {}
            params["_meta"] = {**self.meta, **params.get("_meta", {}), **token}
        self._transport.send(request(self._last, waiting.method, params))
        return self._last

    def dismiss(self, number: int, *, cancel: bool) -> None:
        """Forgets a request, and with `cancel` tells the server."""
        if self._open.pop(number, None) is not None and cancel and self._lost is None:
            self._transport.cancel(number, "nobody waits for it any more")

    def _answered(self, message: Answer) -> bool:
        waiting = self._open.get(message.number) if message.number is not None else None
        if waiting is None or waiting.settled:
            _log.debug("the MCP server %r answered request %s, which is not open", self._server, message.number)
            return False
        if message.error is not None:
            waiting.settle(McpRefusal(self._server, message.error, self._secrets))
        else:
            waiting.settle(message.result or {})
        return True

    def _noticed(self, message: Told) -> bool:
        if message.method != "notifications/progress":
            self._told(message.method, message.params)
            return False
        token = message.params.get("progressToken")
        waiting = self._open.get(token) if isinstance(token, int) else None
        return waiting is not None and waiting.note(message.params)


class OpenRequest:
    """One request under way, from entering this context to leaving it. Leaving it early cancels it at the server.

    Args:
        peer: The connection.
        method: What is asked.
        params: With which parameters.
        cancellable: Whether the server is told when it is left early.
    """

    def __init__(self, peer: Peer, method: str, params: JsonObject, *, cancellable: bool) -> None:
        self.method = method
        self.params = params
        self.wants_progress = method == "tools/call"
        self._peer = peer
        self._cancellable = cancellable
        self._number: int | None = None
        self._outcome: JsonObject | Exception | None = None
        self._progress: Progress | None = None
        self._changed = asyncio.Event()
        self._done = asyncio.Event()

    @property
    def settled(self) -> bool:
        """Whether its answer, or its failure, is there."""
        return self._outcome is not None

    async def __aenter__(self) -> Self:
        self._number = await self._peer.admit(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._number is not None:
            self._peer.dismiss(self._number, cancel=self._cancellable and not self.settled)

    async def result(self) -> JsonObject:
        """Waits for the result.

        Raises:
            McpError: The server refused, or has broken off.
        """
        await self._done.wait()
        assert self._outcome is not None
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    async def progress(self) -> AsyncIterator[Progress]:
        """News of how far it is, until it is answered: the latest, and not more often than `PACE` allows."""
        while not self.settled:
            await self._changed.wait()
            self._changed.clear()
            if self._progress is not None:
                news, self._progress = self._progress, None
                yield news
                await self._rest()

    def settle(self, outcome: JsonObject | Exception) -> None:
        """Ends it; what ends it first counts."""
        if self._outcome is None:
            self._outcome = outcome
            self._done.set()
            self._changed.set()

    def note(self, params: JsonObject) -> bool:
        """Takes note of news; gives whether they make sense and none were waiting to be read."""
        done, total, words = params.get("progress"), params.get("total"), params.get("message")
        if not isinstance(done, int | float):
            return False
        was_read = self._progress is None
        self._progress = Progress(
            done, total if isinstance(total, int | float) else None, words if isinstance(words, str) else ""
        )
        self._changed.set()
        return was_read

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(PACE):
                await self._done.wait()
        except TimeoutError:
            return

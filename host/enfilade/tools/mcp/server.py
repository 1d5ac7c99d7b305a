"""One MCP server of a host: started when it is first used, again when it has died, shared by all who use it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from time import monotonic

from enfilade.telemetry.place import outgoing
from enfilade.tools.fault import masked
from enfilade.tools.mcp.backoff import Backoff
from enfilade.tools.mcp.failure import McpError, McpRefusal, SessionGoneError
from enfilade.tools.mcp.handshake import shake_hands
from enfilade.tools.mcp.listing import list_tools
from enfilade.tools.mcp.message import JsonObject, shown
from enfilade.tools.mcp.peer import Peer, Progress
from enfilade.tools.mcp.transport import Transport

PATIENCE = 5.0
"""Seconds a call waits for a server's next start; where it would have to wait longer, it fails at once."""

LISTEN_AGAIN = 5.0
"""Seconds before a server that stopped to tell of changes is asked to go on with it."""

_MOST_LOGGED = 1_000
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING}

_log = logging.getLogger(__name__)


class Server:
    """A server. One task of its own opens the connection, keeps it and closes it; callers are any tasks.

    Args:
        name: Its name in the configuration.
        start_seconds: Seconds it has to start, and as many to say which tools it has.
        transport: Makes the way to it, anew for each connection.
        secrets: Texts that no error and no log may show.

    Attributes:
        edition: Grows whenever its tools may have changed.
    """

    def __init__(
        self, name: str, start_seconds: float, transport: Callable[[], Transport], secrets: frozenset[str] = frozenset()
    ) -> None:
        self.name = name
        self.secrets = secrets
        self.edition = 0
        self._start_seconds = start_seconds
        self._transport = transport
        self._backoff = Backoff()
        self._owner: asyncio.Task[None] | None = None
        self._link: asyncio.Future[Peer] | None = None
        self._failure: Exception | None = None
        self._listed: tuple[int, list[JsonObject]] | None = None
        self._listing = asyncio.Lock()
        self._stopped = False
        self._own_log = logging.getLogger(f"enfilade.plugin.mcp.{name}")

    @property
    def may_start(self) -> bool:
        """Whether it runs, or may be tried now."""
        return self._runs or self._backoff.wait <= 0

    async def tools(self) -> tuple[int, list[JsonObject]]:
        """Its tools as it describes them, and of which edition; read again when they may have changed.

        Raises:
            McpError: It cannot be had.
        """
        async with self._listing:
            if self._listed is None or self._listed[0] != self.edition:
                peer = await self._connected()
                edition = self.edition  # what changes while the list is read counts as a change
                self._listed = (edition, await self._list_of(peer))
            return self._listed

    async def call(self, tool: str, arguments: JsonObject) -> AsyncGenerator[Progress | JsonObject, None]:
        """Calls a tool: news of its progress and, last, its result. Closing this cancels the call at the server.

        Raises:
            McpError: It refused, broke off, or cannot be had.
        """
        params: JsonObject = {"name": tool, "arguments": arguments}
        if trace := outgoing():
            params["_meta"] = trace
        for is_last in (False, True):
            peer = await self._connected()
            try:
                async with peer.open("tools/call", params) as asked:
                    async for news in asked.progress():
                        yield news
                    result = await asked.result()
            except SessionGoneError:
                if is_last:
                    raise
                continue  # it was not carried out; there will be a new session
            self._backoff.succeeded()
            yield result
            return

    async def stop(self) -> None:
        """Ends the connection, and the server where it was started here."""
        self._stopped = True
        owner, self._owner, self._link = self._owner, None, None
        if owner is not None:
            owner.cancel()
            await asyncio.wait({owner})

    async def _list_of(self, peer: Peer) -> list[JsonObject]:
        try:
            async with asyncio.timeout(self._start_seconds):
                tools = await list_tools(self.name, peer)
        except TimeoutError:
            raise self._fault(f"did not list its tools within {self._start_seconds:g} s") from None
        peer.listed(tools)
        return tools

    @property
    def _runs(self) -> bool:
        link = self._link
        if link is None or not link.done():
            return link is not None
        return not link.cancelled() and link.exception() is None and link.result().lost is None

    async def _connected(self) -> Peer:
        """The connection; begins one where there is none.

        Raises:
            McpError: It failed, or it has failed and may not be tried yet, or it was stopped for good.
        """
        if self._stopped:
            raise self._fault("was stopped, since nobody used it any more")
        if not self._runs:
            if self._backoff.wait > PATIENCE:
                raise self._fault(f"has failed; it is tried again in {self._backoff.wait:.0f} s. {self._failure}")
            self._link = asyncio.get_running_loop().create_future()
            self._link.add_done_callback(_seen)
            self._owner = asyncio.create_task(self._own(self._link, self._owner), name=f"MCP server {self.name}")
        assert self._link is not None
        return await asyncio.shield(self._link)

    async def _own(self, link: asyncio.Future[Peer], before: asyncio.Task[None] | None) -> None:
        """Has a connection once the one before is closed; tells the callers who wait for it where there is none."""
        try:
            if before is not None:
                await asyncio.wait({before})
            await asyncio.sleep(self._backoff.wait)
            began = monotonic()
            try:
                await self._connection(link)
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait are to know
                self._failure = error
                self._backoff.failed(monotonic() - began)
                if not link.done():
                    link.set_exception(error)
        finally:
            if not link.done():
                link.set_exception(self._fault("was stopped"))

    async def _connection(self, link: asyncio.Future[Peer]) -> None:
        """Opens the connection, keeps it until it is lost or this task is cancelled, and closes it."""
        transport = self._transport()
        peer = Peer(self.name, transport, self._told, self.secrets)
        try:
            listens = await self._opened(peer, transport)
            if self._listed is not None:
                peer.listed(self._listed[1])
            link.set_result(peer)
            await self._kept(peer, listens=listens)
            self._lost(peer)
        finally:
            peer.lose(self._fault("was stopped"))
            await transport.close()

    async def _opened(self, peer: Peer, transport: Transport) -> bool:
        """Opens the connection; gives whether the server has to be asked to tell of changes.

        Raises:
            McpError: It cannot be opened.
        """
        try:
            async with asyncio.timeout(self._start_seconds):
                await transport.open(peer)
                agreement = await shake_hands(self.name, peer, transport)
        except TimeoutError:
            more = transport.last_words()
            raise self._fault(f"did not answer within {self._start_seconds:g} s{f': {more}' if more else ''}") from None
        return agreement.stateless and agreement.tells_changes

    async def _kept(self, peer: Peer, *, listens: bool) -> None:
        """Waits until the connection is lost."""
        listener = asyncio.create_task(self._listen(peer)) if listens else None
        try:
            await peer.ended()
        finally:
            if listener is not None:
                listener.cancel()

    async def _listen(self, peer: Peer) -> None:
        """Has the server tell of changes, as the version without a beginning wants it."""
        params = {"notifications": {"toolsListChanged": True}}
        with contextlib.suppress(McpError):
            while True:
                try:
                    await peer.ask("subscriptions/listen", params)
                except McpRefusal:
                    return
                await asyncio.sleep(LISTEN_AGAIN)
                self.edition += 1

    def _lost(self, peer: Peer) -> None:
        self._failure = peer.lost
        self.edition += 1
        if not isinstance(peer.lost, SessionGoneError):
            self._backoff.failed()
            _log.warning("%s; it is started again when it is next needed", peer.lost)

    def _told(self, method: str, params: JsonObject) -> None:
        if method == "notifications/tools/list_changed":
            self.edition += 1
        elif method == "notifications/message":
            level = _LEVELS.get(str(params.get("level")), logging.ERROR)
            self._own_log.log(level, "%s", masked(shown(params.get("data"), _MOST_LOGGED), self.secrets))

    def _fault(self, what: str) -> McpError:
        return McpError(f"the MCP server {self.name!r} {what}")


def _seen(link: asyncio.Future[Peer]) -> None:
    """Looks at the failure, so that it is not reported as never retrieved."""
    if not link.cancelled():
        link.exception()

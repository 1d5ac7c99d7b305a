"""A plugin at an address, which this host neither starts nor stops, but keeps in touch with."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace
from time import monotonic

from enfilade.candidate import Candidate
from enfilade.errors import ConfigError, LaunchError
from enfilade.isolation.connection import Connection
from enfilade.isolation.journal import Sink
from enfilade.isolation.supervision.backoff import Backoff, CrashPolicy
from enfilade.isolation.supervision.pool import again
from enfilade.isolation.supervision.refusal import not_started
from enfilade.isolation.supervision.register import Register
from enfilade.isolation.supervision.states import Listener, PluginStatus, State
from enfilade.isolation.transport.address import configured_address
from enfilade.isolation.transport.reach import transport_at
from enfilade.isolation.transport.stream import Transport
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.serving.link import StreamBrokenError

_log = logging.getLogger(__name__)


class RemoteGuest:
    """Connects on first use, and from then on sees to it that there is a connection.

    One that broke is made anew: at once when there is a run, else again and again, with longer and longer pauses. Runs
    on the old one end as they may. The plugin may be another when it is back, so it is asked again what it offers.

    Args:
        candidate: Where it is.
        policy: How long the pauses are.
    """

    def __init__(self, candidate: Candidate, policy: CrashPolicy | None = None) -> None:
        self._candidate = candidate
        self._heartbeat = candidate.supervision.heartbeat
        self._register = Register(candidate.plugin, candidate.version)
        self._backoff = Backoff(policy or CrashPolicy(), limit=0)
        self._connection: Connection | None = None
        self._connected_at = 0.0
        self._described: list[StrategyDescription] = []
        self._trying: asyncio.Task[Connection] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._leaving: dict[asyncio.Task[None], Connection] = {}
        self._runs = 0
        self._left = False

    def status(self) -> PluginStatus:
        """How it stands."""
        status = self._register.status((), 0, self._backoff)
        retry_at = status.retry_at if status.state is State.UNREACHABLE else None
        return replace(status, address=self._candidate.address, runs=self._runs, crashes=0, retry_at=retry_at)

    def report_to(self, listener: Listener) -> None:
        """Tells somebody of each change of state from now on."""
        self._register.listeners.append(listener)

    def log_to(self, sink: Sink) -> None:
        """Passes nothing on: what it prints is read where it is."""

    def leave(self) -> None:
        """Shows that another one has taken its place."""
        self._left = True
        self._register.plugin(State.DRAINING, "another connection takes its place")

    async def describe(self) -> list[StrategyDescription]:
        """Connects if need be; gives what it offers.

        Raises:
            LaunchError: It cannot be reached; the text says why.
            ConfigError: Its address or a certificate file cannot be used.
        """
        await self._connected()
        return self._described

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs a strategy there.

        Raises:
            LaunchError: It cannot be reached.
            GuestDiedError: The connection broke in the middle of the run.
            EnfiladeError: The run failed.
        """
        connection = await self._connected()
        self._runs += 1
        messages = connection.run(invocation, hatch)
        try:
            async for message in messages:
                yield message
        finally:
            self._runs -= 1
            await messages.aclose()

    async def stop(self) -> None:
        """Closes the connection; the plugin goes on."""
        tasks = [task for task in (self._keeping, self._trying, *self._leaving) if task is not None]
        connections = [*self._leaving.values(), *([self._connection] if self._connection is not None else [])]
        self._keeping = self._trying = self._connection = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in connections:
            await connection.close()
        if tasks:
            self._register.plugin(State.STOPPED, "the host closes the connection")

    # Connecting

    async def _connected(self) -> Connection:
        """The connection; one attempt to make it is shared by all who wait."""
        if self._connection is not None and self._connection.usable:
            return self._connection
        if self._trying is None or self._trying.done():
            self._trying = asyncio.ensure_future(self._try())
            self._trying.add_done_callback(_retrieve)
        trying = self._trying
        try:
            return await asyncio.shield(trying)
        except EnfiladeError as error:
            raise again(error) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not trying.cancelled() or task is None or task.cancelling():  # it is whoever waits that was cancelled
                raise
            text = f"plugin {self._candidate.plugin!r} at {self._candidate.address}: the host gave the connection up"
            raise LaunchError(text) from None

    async def _try(self) -> Connection:
        if self._connection is not None:
            self._lost(self._connection, self._connection.given_up)
        if self._register.state is not State.UNREACHABLE:
            self._register.plugin(State.STARTING)
        try:
            connection, described = await self._connect()
        except ConfigError as error:
            self._register.plugin(State.STOPPED, error.message)
            raise
        except Exception as error:
            fault = error if isinstance(error, EnfiladeError) else not_started(self._candidate.plugin, error)
            self._missed(fault.message)
            raise fault from error
        self._heard(described)
        self._connection, self._connected_at = connection, monotonic()
        self._register.plugin(State.READY)
        self._keep()
        return connection

    def _heard(self, described: list[StrategyDescription]) -> None:
        if self._described and described != self._described:
            plugin = self._candidate.plugin
            _log.warning(
                "plugin %r at %s offers something else than before; `enfilade plugins restart %s` takes it in",
                *(plugin, self._candidate.address, plugin),
            )
        self._described = described

    async def _connect(self) -> tuple[Connection, list[StrategyDescription]]:
        candidate = self._candidate
        connection = Connection(candidate.plugin, self._transport(), at=candidate.address)
        try:
            return connection, await connection.describe(candidate.start_timeout)
        except BaseException:
            await connection.close()
            raise

    def _transport(self) -> Transport:
        candidate = self._candidate
        try:
            return transport_at(configured_address(candidate.address, candidate.certificates))
        except ConfigError as error:
            raise ConfigError(f"plugin {candidate.plugin!r}: {error.message}") from None

    # Keeping in touch

    def _keep(self) -> None:
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.ensure_future(self._keep_in_touch())

    async def _keep_in_touch(self) -> None:
        """Connects again where there is no connection; else asks from time to time whether the plugin answers."""
        while not self._left:
            if (connection := self._connection) is None:
                await asyncio.sleep(self._backoff.left)
                try:
                    await self._connected()
                except ConfigError:
                    return  # until somebody uses it again
                except EnfiladeError:
                    continue
            else:
                await connection.broken_within(self._heartbeat)
                if connection is self._connection and not self._left:
                    await self._look_at(connection)

    async def _look_at(self, connection: Connection) -> None:
        """Asks whether it answers. One that does not in time is only shown: its runs have their own deadlines."""
        if not connection.usable:
            self._lost(connection, connection.given_up)
            return
        state, reason = State.READY, "it answers again"
        try:
            self._heard(await connection.asked(self._heartbeat))
        except TimeoutError:
            state, reason = State.UNRESPONSIVE, f"no answer within {self._heartbeat:g} s"
        except (StreamBrokenError, EnfiladeError) as error:
            if connection is self._connection:
                self._lost(connection, str(error))
            return
        if connection is self._connection and {state, self._register.state} == {State.READY, State.UNRESPONSIVE}:
            self._register.plugin(state, reason)

    def _lost(self, connection: Connection, reason: str) -> None:
        self._connection = None
        leaving = asyncio.ensure_future(connection.close_after_runs())
        self._leaving[leaving] = connection
        leaving.add_done_callback(lambda done: self._leaving.pop(done, None))
        self._missed(f"the connection broke: {reason}", monotonic() - self._connected_at)

    def _missed(self, reason: str, seconds: float = 0.0) -> None:
        """There is no connection; it is tried again after a pause."""
        self._backoff.crashed(seconds)
        if self._left:
            return
        who = f"plugin {self._candidate.plugin!r} at {self._candidate.address} "
        self._register.plugin(State.UNREACHABLE, reason.removeprefix(who))
        self._keep()


def _retrieve(trying: "asyncio.Task[Connection]") -> None:
    """Takes an error out of an attempt that nobody waits for any more."""
    if not trying.cancelled():
        trying.exception()

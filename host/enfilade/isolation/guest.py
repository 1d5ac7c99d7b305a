"""Plugins as the host sees them: started on first use and again after a death, or found at an address."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Protocol

from enfilade.errors import LaunchError
from enfilade.isolation.connection import Connection
from enfilade.isolation.process import AT_ONCE, GuestProcess, LaunchSpec, StopTimes, launch
from enfilade.isolation.reach import transport_to
from enfilade.isolation.watch import Watch
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import NotAdmittedError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage


class Guest(Protocol):
    """A plugin that can be described and that runs its strategies."""

    async def describe(self) -> list[StrategyDescription]:
        """What it offers; starts it when it is not running."""
        ...

    def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs one of its strategies; starts it when it is not running."""
        ...

    async def stop(self) -> None:
        """Ends it; it may be started again."""
        ...


class StartedGuest:
    """A plugin that this host starts on first use, and again after it has died.

    Each process has a keeper: a task that sees its end, for whatever reason it ends, and cleans up after it.
    """

    def __init__(self, spec: LaunchSpec, watch: Watch, times: StopTimes) -> None:
        self._spec = spec
        self._watch = watch
        self._times = times
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._described: list[StrategyDescription] = []
        self._asked_to_stop = asyncio.Event()
        self._keepers: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        process = self._connection.process if self._connection else None
        return process.pid if process and not process.ended else None

    async def describe(self) -> list[StrategyDescription]:
        """Starts it if need be; gives what it offers.

        Raises:
            LaunchError: It did not come to life; the text says how.
        """
        await self._connected()
        return self._described

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Starts it if need be; runs a strategy in it.

        Raises:
            LaunchError: It did not come to life.
            GuestDiedError: It died in the middle of the run; the run is not repeated, for its tools may have acted.
            EnfiladeError: The run failed.
        """
        connection = await self._connected()
        messages = connection.run(invocation, hatch)
        try:
            async for message in messages:
                yield message
        finally:
            await messages.aclose()

    async def stop(self) -> None:
        """Stops it, step by step, and reaps it; a start that is under way is given up."""
        self._asked_to_stop.set()
        async with self._lock:
            if self._keepers:
                await asyncio.wait(self._keepers)
            self._asked_to_stop.clear()

    async def _connected(self) -> Connection:
        connection = self._connection
        if connection is not None and connection.usable:
            return connection
        async with self._lock:
            connection = self._connection
            if connection is None or not connection.usable:
                connection = await self._start()
            return connection

    async def _start(self) -> Connection:
        starting, asked = asyncio.ensure_future(self._launch()), asyncio.ensure_future(self._asked_to_stop.wait())
        try:
            await asyncio.wait({starting, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
            if not starting.done():
                starting.cancel()
                await asyncio.wait({starting})
        if starting.cancelled():
            raise LaunchError(f"plugin {self._spec.plugin!r} was stopped while it started")
        return starting.result()

    async def _launch(self) -> Connection:
        process = await launch(self._spec, self._watch)
        connection: Connection | None = None
        try:
            connection = Connection(self._spec.plugin, transport_to(process), process)
            self._described = await connection.describe(self._spec.start_timeout)
            if not self._described:
                raise NotAdmittedError(f"plugin {self._spec.plugin!r} offers no strategy")
        except BaseException:
            if connection is not None:
                await connection.close()
            await process.stop(self._watch, AT_ONCE, asked=False)
            raise
        self._connection = connection
        keeper = asyncio.ensure_future(self._keep(connection, process))
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)
        return connection

    async def _keep(self, connection: Connection, process: GuestProcess) -> None:
        """Waits until a process has ended, was given up, or is to be stopped; then cleans up after it."""
        waits = {
            asyncio.ensure_future(process.wait()),
            asyncio.ensure_future(connection.broken.wait()),
            asyncio.ensure_future(self._asked_to_stop.wait()),
        }
        asked = died = False
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            asked = self._asked_to_stop.is_set() and connection.usable
            died = process.ended and not self._asked_to_stop.is_set()
        finally:
            for wait in waits:
                wait.cancel()
            if self._connection is connection:
                self._connection = None
            await self._end(connection, process, asked=asked, died=died)

    async def _end(self, connection: Connection, process: GuestProcess, *, asked: bool, died: bool) -> None:
        shutting_down = asyncio.ensure_future(connection.shut_down()) if asked else None
        try:
            await process.stop(self._watch, self._times if asked else AT_ONCE, asked=asked)
        finally:
            if shutting_down is not None:
                shutting_down.cancel()
                await asyncio.wait({shutting_down})
            if died:
                await connection.last_reads()
            await connection.close()

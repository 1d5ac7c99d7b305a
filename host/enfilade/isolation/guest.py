"""A plugin at the other end of a channel, whether this host started it or found it at an address."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any, Protocol

import grpc

from enfilade.errors import LaunchError
from enfilade.isolation.ahead import RunStream, StreamsAhead
from enfilade.isolation.channel import Address, open_channel
from enfilade.isolation.process import GuestProcess, LaunchSpec, StopTimes, launch
from enfilade.isolation.run import GuestStream
from enfilade.isolation.watch import Watch
from enfilade_sdk import codec
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import EnfiladeError, GuestDiedError, ProtocolError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.serving.server import TOKEN_KEY
from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1 import strategy_pb2_grpc as rpc

DESCRIBE_TIMEOUT = 10.0
"""Seconds for the plugin to say what it offers."""


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


class Connection:
    """An open channel to a plugin, with streams opened ahead."""

    def __init__(self, plugin: str, address: Address, token: str = "", process: GuestProcess | None = None) -> None:
        self.plugin = plugin
        self.process = process
        self._channel = open_channel(address)
        self._metadata = ((TOKEN_KEY, token),) if token else ()
        self._stub: Any = rpc.StrategyPluginStub(self._channel)
        self._streams = StreamsAhead(self._open_stream)
        self._overdue: list[str] = []
        self.broken = asyncio.Event()

    async def describe(self) -> list[StrategyDescription]:
        """Asks what the plugin offers.

        Raises:
            LaunchError: It cannot be reached, or does not answer.
            ProtocolError: Its answer cannot be read.
        """
        try:
            response = await self._stub.Describe(
                pb.DescribeRequest(), timeout=DESCRIBE_TIMEOUT, metadata=self._metadata, wait_for_ready=True
            )
        except grpc.aio.AioRpcError as error:
            raise LaunchError(
                f"plugin {self.plugin!r} did not say what it offers within {DESCRIBE_TIMEOUT:g} s: "
                f"{error.code().name}: {error.details()}{self._printed()}"
            ) from None
        if response.protocol != codec.PROTOCOL:
            raise ProtocolError(
                f"plugin {self.plugin!r} speaks protocol {response.protocol}, this host speaks {codec.PROTOCOL}"
            )
        self._streams.fill()
        return [codec.description_from_wire(strategy) for strategy in response.strategies]

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs a strategy on a stream of its own."""
        stream = GuestStream(self._streams.take(), hatch, self._explain, self._give_up)
        messages = stream.messages(invocation)
        try:
            async for message in messages:
                yield message
        finally:
            await messages.aclose()

    async def shut_down(self) -> None:
        """Asks a started plugin to end (go-plugin's controller), and closes the channel."""
        self._streams.close()
        shutdown: Any = self._channel.unary_unary("/plugin.GRPCController/Shutdown")
        with contextlib.suppress(grpc.aio.AioRpcError):
            await shutdown(b"", timeout=1.0, metadata=self._metadata)
        await self._channel.close()

    async def close(self) -> None:
        """Closes the channel and leaves the plugin running."""
        self._streams.close()
        await self._channel.close()

    def _open_stream(self) -> RunStream:
        return self._stub.Run(metadata=self._metadata)

    def _printed(self) -> str:
        return self.process.output.text() if self.process else ""

    async def _explain(self, reason: str) -> EnfiladeError:
        if self.process is None:
            return GuestDiedError(f"the connection to plugin {self.plugin!r} broke: {reason}")
        if self._overdue:
            return GuestDiedError(f"plugin {self.plugin!r} was stopped under this run: {self._overdue[0]}")
        try:
            async with asyncio.timeout(1.0):
                await self.process.wait()
        except TimeoutError:
            return ProtocolError(f"plugin {self.plugin!r} broke the stream off while its process lives: {reason}")
        self.broken.set()
        return GuestDiedError(
            f"plugin {self.plugin!r} died in the middle of the run: {self.process.last_words()}",
            details={"exit_code": self.process.exit_code},
        )

    async def _give_up(self, reason: str) -> None:
        self._overdue.append(f"{reason} (another run in the same process)")
        self.broken.set()


class StartedGuest:
    """A plugin that this host starts on first use, and again after it has died."""

    def __init__(self, spec: LaunchSpec, watch: Watch, times: StopTimes) -> None:
        self._spec = spec
        self._watch = watch
        self._times = times
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._described: list[StrategyDescription] = []
        self._reaper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        process = self._connection.process if self._connection else None
        return process.pid if process and process.exit_code is None else None

    async def describe(self) -> list[StrategyDescription]:
        """Starts it if need be; gives what it offers."""
        await self._connected()
        return self._described

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Starts it if need be; runs a strategy in it."""
        connection = await self._connected()
        messages = connection.run(invocation, hatch)
        try:
            async for message in messages:
                yield message
        finally:
            await messages.aclose()

    async def stop(self) -> None:
        """Stops it, step by step, and reaps it."""
        async with self._lock:
            connection, self._connection = self._connection, None
            reaper, self._reaper = self._reaper, None
            if reaper is not None:
                reaper.cancel()
                await asyncio.gather(reaper, return_exceptions=True)
            if connection is not None:
                await self._end(connection)

    async def _connected(self) -> Connection:
        connection = self._connection
        if connection is not None and _usable(connection):
            return connection
        async with self._lock:
            connection = self._connection
            if connection is None or not _usable(connection):
                connection = await self._start()
            return connection

    async def _start(self) -> Connection:
        process = await launch(self._spec, self._watch, self._times)
        address = Address(f"unix:{process.handshake.path}")
        connection = Connection(self._spec.plugin, address, process.token, process)
        try:
            self._described = await connection.describe()
        except BaseException:
            await connection.close()
            await process.stop(self._watch, StopTimes(0, 0, 0.2), asked=False)
            raise
        self._connection = connection
        self._reaper = asyncio.ensure_future(self._reap(connection, process))
        return connection

    async def _reap(self, connection: Connection, process: GuestProcess) -> None:
        """Cleans up after a process that ended by itself or was given up."""
        ended = asyncio.ensure_future(process.wait())
        given_up = asyncio.ensure_future(connection.broken.wait())
        try:
            await asyncio.wait({ended, given_up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            given_up.cancel()
        if self._connection is connection:
            self._connection = None
        await process.stop(self._watch, StopTimes(0, 0, 0), asked=False)
        await connection.close()

    async def _end(self, connection: Connection) -> None:
        process = connection.process
        if process is None:
            return
        if process.exit_code is None:
            await connection.shut_down()
        else:
            await connection.close()
        await process.stop(self._watch, self._times)


class RemoteGuest:
    """A plugin at an address, which this host neither starts nor stops."""

    def __init__(self, plugin: str, address: Address) -> None:
        self._plugin = plugin
        self._address = address
        self._connection: Connection | None = None
        self._described: list[StrategyDescription] | None = None

    async def describe(self) -> list[StrategyDescription]:
        """Connects if need be; gives what it offers."""
        if self._connection is None:
            self._connection = Connection(self._plugin, self._address)
        if self._described is None:
            self._described = await self._connection.describe()
        return self._described

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs a strategy there."""
        await self.describe()
        if self._connection is None:
            raise LaunchError(f"plugin {self._plugin!r} is not connected")
        messages = self._connection.run(invocation, hatch)
        try:
            async for message in messages:
                yield message
        finally:
            await messages.aclose()

    async def stop(self) -> None:
        """Closes the connection."""
        connection, self._connection, self._described = self._connection, None, None
        if connection is not None:
            await connection.close()


def _usable(connection: Connection) -> bool:
    process = connection.process
    return not connection.broken.is_set() and (process is None or process.exit_code is None)

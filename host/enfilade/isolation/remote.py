"""A plugin at an address, which this host neither starts nor stops."""

import asyncio
from collections.abc import AsyncGenerator

from enfilade.candidate import Candidate
from enfilade.errors import ConfigError
from enfilade.isolation.connection import Connection
from enfilade.isolation.transport.address import configured_address
from enfilade.isolation.transport.reach import transport_at
from enfilade.isolation.transport.stream import Transport
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage


class RemoteGuest:
    """Connects on first use. The channel connects again by itself when the plugin was started anew."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._described: list[StrategyDescription] = []

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
        messages = connection.run(invocation, hatch)
        try:
            async for message in messages:
                yield message
        finally:
            await messages.aclose()

    async def stop(self) -> None:
        """Closes the connection; the plugin goes on."""
        async with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()

    async def _connected(self) -> Connection:
        async with self._lock:
            if self._connection is None:
                candidate = self._candidate
                connection = Connection(candidate.plugin, self._transport(), at=candidate.address)
                try:
                    self._described = await connection.describe(candidate.start_timeout)
                except BaseException:
                    await connection.close()
                    raise
                self._connection = connection
            return self._connection

    def _transport(self) -> Transport:
        candidate = self._candidate
        try:
            return transport_at(configured_address(candidate.address, candidate.certificates))
        except ConfigError as error:
            raise ConfigError(f"plugin {candidate.plugin!r}: {error.message}") from None

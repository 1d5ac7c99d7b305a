"""gRPC to a plugin: one that was found at an address, or that was started and does not speak the plain link."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import grpc

from enfilade.isolation.output import OutputTail
from enfilade.isolation.transport.address import Address
from enfilade.isolation.transport.ahead import StreamsAhead
from enfilade.isolation.transport.channel import open_channel
from enfilade.isolation.transport.grpc_stream import GrpcRunStream, broken
from enfilade.isolation.transport.stdio import drain_stdio
from enfilade_sdk.serving.link import StreamBrokenError
from enfilade_sdk.serving.server import TOKEN_KEY
from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1 import strategy_pb2_grpc as rpc


class GrpcTransport:
    """One channel, with a few Run streams open ahead."""

    def __init__(self, address: Address, token: str = "", output: OutputTail | None = None) -> None:
        """Opens the channel.

        Args:
            address: Where the plugin is.
            token: The launch's, sent with every call; empty for none.
            output: Where the output goes that a plugin of go-plugin's make sends in a stream; None for other makes.

        Raises:
            ConfigError: A certificate file is missing or is not PEM.
        """
        self._channel = open_channel(address)
        self._metadata = ((TOKEN_KEY, token),) if token else ()
        self._stub: Any = rpc.StrategyPluginStub(self._channel)
        self._streams = StreamsAhead(self._open_stream)
        self._output = output
        self._stdio: asyncio.Task[None] | None = None

    async def describe(self, seconds: float) -> pb.DescribeResponse:
        """Asks what the plugin offers; opens streams ahead."""
        response = await self._describe(seconds)
        self._streams.fill()
        if self._output is not None and self._stdio is None:
            self._stdio = asyncio.ensure_future(drain_stdio(self._channel, self._output))
        return response

    async def alive(self, seconds: float) -> bool:
        """Whether its handlers answer."""
        try:
            await self._describe(seconds)
        except (TimeoutError, StreamBrokenError):
            return False
        return True

    def when_lost(self, tell: Callable[[StreamBrokenError], None]) -> None:
        """Tells nobody: the channel connects again by itself, and each run finds out."""

    def open_run(self) -> GrpcRunStream:
        """One of the streams opened ahead, or a new one."""
        return self._streams.take()

    async def shut_down(self, seconds: float) -> None:
        """Asks a started plugin to end (go-plugin's controller)."""
        self._streams.close()
        shutdown: Any = self._channel.unary_unary("/plugin.GRPCController/Shutdown")
        with contextlib.suppress(grpc.aio.AioRpcError):
            await shutdown(b"", timeout=seconds, metadata=self._metadata)

    async def close(self) -> None:
        """Closes the channel."""
        self._streams.close()
        if self._stdio is not None:
            self._stdio.cancel()
            await asyncio.gather(self._stdio, return_exceptions=True)
        await self._channel.close()

    async def _describe(self, seconds: float) -> pb.DescribeResponse:
        try:
            answer = await self._stub.Describe(pb.DescribeRequest(), timeout=seconds, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise TimeoutError from None
            raise broken(error) from None
        assert isinstance(answer, pb.DescribeResponse)
        return answer

    def _open_stream(self) -> GrpcRunStream:
        return GrpcRunStream(self._stub.Run(metadata=self._metadata))

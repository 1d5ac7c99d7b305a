"""The host's end of one run on a guest: the start goes down, messages and calls come up, exactly one end."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable

import grpc

from enfilade.isolation.ahead import RunStream
from enfilade.isolation.calls import GuestCalls
from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError, LimitExceededError, ProtocolError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.outbox import Outbox
from enfilade_wire.v1 import strategy_pb2 as pb

MAX_ITEM_BYTES = 8 * 1024 * 1024
"""Bytes of one item, both ways; a frame may hold twice that."""

CANCEL_GRACE = 2.0
"""Seconds that a guest has to end a cancelled run before its process is stopped."""

END_GRACE = 5.0
"""Seconds that a guest has to close its side after the run's end."""

_CALLS = frozenset({"model_call", "tool_call", "storage_call", "cancel_call", "credit"})

Overdue = Callable[[str], Awaitable[None]]
"""What to do with a guest that does not end a cancelled run: told why."""

Explain = Callable[[str], Awaitable[EnfiladeError]]
"""The error for a stream that broke: how the process ended, or that the plugin cannot be reached."""


class GuestStream:
    """Drives one run. `messages` is to be closed by whoever iterates it."""

    def __init__(self, stream: RunStream, hatch: Hatch, explain: Explain, overdue: Overdue) -> None:
        self._stream = stream
        self._outbox: Outbox[pb.HostItem] = Outbox()
        self._calls = GuestCalls(hatch, self._outbox, MAX_ITEM_BYTES)
        self._explain = explain
        self._overdue = overdue
        self._ended = False

    async def messages(self, invocation: Invocation) -> AsyncGenerator[ToolInvokeMessage, None]:
        """The run's messages.

        Raises:
            EnfiladeError: The run failed in the guest; the guest died; or it broke a rule of the wire.
        """
        start = pb.HostItem(start=codec.start_to_wire(invocation, MAX_ITEM_BYTES))
        self._check_size(start.ByteSize(), "the run's start")
        self._outbox.push(start, 0)
        writer = asyncio.ensure_future(self._write())
        try:
            while not self._ended:
                for item in await self._read():
                    kind = item.WhichOneof("item")
                    if kind == "message" and not self._ended:
                        self._check_size(item.ByteSize(), "a message")
                        yield codec.message_from_wire(item.message)
                    else:
                        self._handle(kind, item)
            await self._check_end()
        finally:
            await self._close(writer)

    async def _read(self) -> list[pb.PluginItem]:
        try:
            frame = await self._stream.read()
        except grpc.aio.AioRpcError as error:
            raise await self._explain(_reason(error)) from None
        if isinstance(frame, pb.PluginFrame):
            return list(frame.items)
        if await self._stream.code() is not grpc.StatusCode.OK:
            raise await self._explain(f"{(await self._stream.code()).name}: {await self._stream.details()}")
        raise await self._explain("the stream ended without a terminal item")

    def _handle(self, kind: str | None, item: pb.PluginItem) -> None:
        if self._ended:
            raise ProtocolError(f"rule 'exactly one terminal item, and nothing after it' was broken: got {kind!r}")
        if kind in _CALLS:
            self._check_size(item.ByteSize(), f"a {kind}")
            self._calls.handle(kind or "", item)
        elif kind == "finished":
            self._ended = True
        elif kind == "failed":
            self._ended = True
            raise codec.run_failure_from_wire(item.failed)
        else:
            raise ProtocolError(f"rule 'an item is one of the known kinds' was broken: got {kind!r}")

    def _check_size(self, size: int, what: str) -> None:
        if size > MAX_ITEM_BYTES:
            raise LimitExceededError(f"{what} of {size} bytes is over the limit of {MAX_ITEM_BYTES} bytes for one item")

    async def _check_end(self) -> None:
        """After the end the guest closes its side and sends nothing more."""
        self._outbox.close()
        with contextlib.suppress(TimeoutError, grpc.aio.AioRpcError):
            async with asyncio.timeout(END_GRACE):
                frame = await self._stream.read()
            if isinstance(frame, pb.PluginFrame):
                for item in frame.items:
                    self._handle(item.WhichOneof("item"), item)

    async def _write(self) -> None:
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            while items := await self._outbox.take():
                await self._stream.write(pb.HostFrame(items=items))

    async def _close(self, writer: "asyncio.Future[None]") -> None:
        """Lets go of the calls, cancels a guest that is still at it, and waits for it within the grace."""
        if not self._ended and not self._outbox.closed:
            self._outbox.push(pb.HostItem(cancel=pb.Cancel(reason="the caller gave the run up")), 0)
        self._outbox.close()
        try:
            await self._calls.close()
            if not self._ended and not self._stream.done():
                await self._wait_for_end()
        finally:
            self._stream.cancel()
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def _wait_for_end(self) -> None:
        try:
            async with asyncio.timeout(CANCEL_GRACE):
                while isinstance(await self._stream.read(), pb.PluginFrame):
                    pass
        except TimeoutError:
            await self._overdue(f"a cancelled run did not end within {CANCEL_GRACE:g} s")
        except grpc.aio.AioRpcError:
            pass


def _reason(error: "grpc.aio.AioRpcError") -> str:
    return f"{error.code().name}: {error.details()}"

"""One run in a guest: read the start, drive the strategy, write its messages and exactly one end."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, Protocol
from uuid import uuid4

from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError, LimitExceededError, NotAdmittedError, ProtocolError, RunCancelled
from enfilade_sdk.execution import execute, failure_of
from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, MessageType, ToolInvokeMessage
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.serving.hatch import StreamHatch
from enfilade_wire.v1 import strategy_pb2 as pb

_log = logging.getLogger(__name__)

BLOB_PART = 1024 * 1024
"""Bytes of a blob that leave in one item when it is split."""


class FrameStream(Protocol):
    """The two ends of a Run stream, as grpc.aio's servicer context has them."""

    async def read(self) -> Any:
        """The next `HostFrame`, or something else at the end."""
        ...

    async def write(self, message: pb.PluginFrame) -> None:
        """Writes a frame; waits for flow control."""
        ...


class GuestRun:
    """Serves one stream. `find` gives the opened strategy of a name, or raises `NotAdmittedError`."""

    def __init__(self, stream: FrameStream, find: Callable[[str], Any]) -> None:
        self._stream = stream
        self._find = find
        self._outbox: Outbox[pb.PluginItem] = Outbox()
        self._hatch = StreamHatch(self._outbox)
        self._limit = 0

    async def serve(self) -> None:
        """Waits for the start (the host opens streams ahead), runs, ends. Gives up when the host closes first."""
        frame = await self._stream.read()
        if not isinstance(frame, pb.HostFrame):
            return
        writer = asyncio.ensure_future(self._write())
        strategy = asyncio.ensure_future(self._run_to_end(frame))
        reader = asyncio.ensure_future(self._read(strategy))
        try:
            await strategy
            await writer
        finally:
            for task in (reader, strategy, writer):
                task.cancel()
            await asyncio.gather(reader, strategy, writer, return_exceptions=True)

    async def _run_to_end(self, frame: pb.HostFrame) -> None:
        try:
            await self._run(frame)
            end = pb.PluginItem(finished=pb.Finished())
        except EnfiladeError as error:
            end = _failed(error)
        except asyncio.CancelledError:
            end = _failed(RunCancelled("the run was cancelled"))
        except Exception as error:  # noqa: BLE001 - nothing may leave a handler but a terminal item
            end = _failed(failure_of(error))
        if not self._outbox.closed:
            self._outbox.push(end, 0)
        self._outbox.close()

    async def _run(self, frame: pb.HostFrame) -> None:
        start, *more = frame.items
        if start.WhichOneof("item") != "start":
            raise ProtocolError(f"rule 'start is first' was broken: got {start.WhichOneof('item')!r}")
        invocation = codec.start_from_wire(start.start)
        self._limit = start.start.max_item_bytes
        for item in more:
            self._hatch.answer(item)
        try:
            async with aclosing(execute(self._find(invocation.strategy), invocation, self._hatch)) as messages:
                async for message in messages:
                    await self._send(message)
        finally:
            self._hatch.close(RunCancelled("the run has ended"))

    async def _send(self, message: ToolInvokeMessage) -> None:
        payload = message.message
        if type(payload) is BlobPayload and len(payload.blob) > BLOB_PART:
            for part in split_blob(message, payload):
                await self._outbox.put(*self._item(part))
            return
        await self._outbox.put(*self._item(message))

    def _item(self, message: ToolInvokeMessage) -> tuple[pb.PluginItem, int]:
        item = pb.PluginItem(message=codec.message_to_wire(message))
        size = item.ByteSize()
        if self._limit and size > self._limit:
            raise LimitExceededError(
                f"a {message.type.value} message of {size} bytes is over the limit of {self._limit} bytes for one item; "
                "send it in parts, or as a blob, which is split on the way"
            )
        return item, size

    async def _read(self, strategy: "asyncio.Future[None]") -> None:
        while isinstance(frame := await self._stream.read(), pb.HostFrame):
            for item in frame.items:
                if item.WhichOneof("item") == "cancel":
                    self._cancel(strategy, item.cancel.reason)
                else:
                    self._answer(strategy, item)
        self._cancel(strategy, "the host closed the stream")

    def _answer(self, strategy: "asyncio.Future[None]", item: pb.HostItem) -> None:
        try:
            self._hatch.answer(item)
        except EnfiladeError as error:
            self._cancel(strategy, error.message)

    def _cancel(self, strategy: "asyncio.Future[None]", reason: str) -> None:
        if not strategy.done():
            _log.debug("run cancelled: %s", reason)
            self._hatch.close(RunCancelled(f"the run was cancelled: {reason}"))
            strategy.cancel()

    async def _write(self) -> None:
        with contextlib.suppress(Exception):  # the stream is broken: the reader sees its end and cancels the run
            while items := await self._outbox.take():
                await self._stream.write(pb.PluginFrame(items=items))
        self._outbox.close()


def split_blob(message: ToolInvokeMessage, payload: BlobPayload) -> list[ToolInvokeMessage]:
    """The parts of a blob too large for one item, in order."""
    blob, name = payload.blob, uuid4().hex
    starts = range(0, len(blob), BLOB_PART)
    return [
        ToolInvokeMessage(
            type=MessageType.BLOB_CHUNK,
            message=BlobChunkPayload(
                id=name,
                sequence=number,
                total_length=len(blob),
                blob=blob[at : at + BLOB_PART],
                end=at + BLOB_PART >= len(blob),
            ),
            meta=message.meta if number == 0 else None,
        )
        for number, at in enumerate(starts)
    ]


def _failed(error: EnfiladeError) -> pb.PluginItem:
    return pb.PluginItem(failed=codec.run_failure_to_wire(error))


def missing_strategy(name: str, known: list[str]) -> NotAdmittedError:
    """The error for a strategy this plugin does not have."""
    return NotAdmittedError(f"this plugin has no strategy {name!r}; it has: {', '.join(known) or 'none'}")

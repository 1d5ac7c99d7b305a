"""One run in a guest: read the start, drive the strategy, write its messages and exactly one end.

The strategy runs in the task that serves the stream. Reading and writing beside it get tasks of their own only when
the run is not over at once: a run that answers without waiting for anything is one read and one write.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, Protocol

from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError, InternalError, ProtocolError, RunCancelled
from enfilade_sdk.execution import execute, failure_of
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.serving.hatch import StreamHatch
from enfilade_sdk.serving.parts import check_size, is_whole, parts_of
from enfilade_sdk.serving.trace import join_trace
from enfilade_wire.v1 import strategy_pb2 as pb

_log = logging.getLogger(__name__)


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
        self._task: asyncio.Task[Any] | None = None
        self._lanes: list[asyncio.Task[None]] = []
        self._cancelled: EnfiladeError | None = None

    async def serve(self) -> None:
        """Waits for the start (the host opens streams ahead), runs, ends. Gives up when the host closes first."""
        frame = await self._stream.read()
        if not isinstance(frame, pb.HostFrame):
            return
        self._task = asyncio.current_task()
        opening = asyncio.get_running_loop().call_soon(self._open_lanes)
        try:
            end = await self._run_to_end(frame)
            opening.cancel()
            await self._send_end(end)
        finally:
            opening.cancel()
            self._outbox.close()
            await self._close_lanes()

    def _open_lanes(self) -> None:
        self._lanes = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._write())]

    async def _close_lanes(self) -> None:
        for lane in self._lanes:
            lane.cancel()
        if self._lanes:
            await asyncio.gather(*self._lanes, return_exceptions=True)

    async def _send_end(self, end: pb.PluginItem) -> None:
        with contextlib.suppress(RunCancelled):  # the stream is broken, so nobody is there to read the end
            self._outbox.push(end, 0)
        self._outbox.close()
        if self._lanes:
            await asyncio.wait(self._lanes[1:])
        else:
            await self._write()

    async def _run_to_end(self, frame: pb.HostFrame) -> pb.PluginItem:
        """The terminal item of the run.

        Raises:
            CancelledError: The RPC was cancelled, so no item can be sent any more.
        """
        try:
            await self._run(frame)
        except EnfiladeError as error:
            return failed_item(self._cancelled or error)
        except asyncio.CancelledError:
            if self._cancelled is None or self._task is None:
                raise
            self._task.uncancel()
            return failed_item(self._cancelled)
        except Exception as error:  # noqa: BLE001 - nothing may leave a handler but a terminal item
            return failed_item(failure_of(error))
        return pb.PluginItem(finished=pb.Finished())

    async def _run(self, frame: pb.HostFrame) -> None:
        kind = frame.items[0].WhichOneof("item") if frame.items else None
        if kind != "start":
            raise ProtocolError(f"rule 'start is first' was broken: got {kind!r}")
        start = frame.items[0].start
        invocation = codec.start_from_wire(start)
        join_trace(invocation.traceparent)
        self._limit = self._hatch.limit = start.max_item_bytes
        for item in frame.items[1:]:
            self._take(item)
        try:
            async with aclosing(execute(self._find(invocation.strategy), invocation, self._hatch)) as messages:
                async for message in messages:
                    await self._send(message)
        finally:
            self._hatch.close(RunCancelled("the run has ended"))

    async def _send(self, message: ToolInvokeMessage) -> None:
        for part in (message,) if is_whole(message) else parts_of(message):
            item = pb.PluginItem()
            codec.write_message(item.message, part)
            size = item.ByteSize()
            check_size(part, size, self._limit)
            if not self._outbox.offer(item, size):
                await self._outbox.put(item, size)

    async def _read(self) -> None:
        while isinstance(frame := await self._stream.read(), pb.HostFrame):
            for item in frame.items:
                self._take(item)
        # The host has closed its side: the run goes on without answers. When it has gone, the RPC is cancelled.
        self._hatch.close(RunCancelled("the host closed its side of the stream; no further calls are answered"))

    def _take(self, item: pb.HostItem) -> None:
        kind = item.WhichOneof("item")
        if kind == "cancel":
            self._cancel(RunCancelled(f"the run was cancelled: {item.cancel.reason}"))
        elif kind == "start":
            self._cancel(ProtocolError("rule 'a stream has one start' was broken"))
        else:
            try:
                self._hatch.answer(item)
            except EnfiladeError as error:
                self._cancel(error)

    def _cancel(self, reason: EnfiladeError) -> None:
        if self._cancelled is None and self._task is not None and not self._task.cancelling():
            _log.debug("run cancelled: %s", reason.message)
            self._cancelled = reason
            self._hatch.close(reason)
            self._task.cancel()

    async def _write(self) -> None:
        try:
            while items := await self._outbox.take():
                await self._stream.write(pb.PluginFrame(items=items))
        except Exception as error:  # noqa: BLE001 - the RPC is over; its end cancels the run
            _log.debug("a run's stream broke: %s", error)
        finally:
            self._outbox.close()


def failed_item(error: EnfiladeError) -> pb.PluginItem:
    """The terminal item of a run that failed, whatever its error holds."""
    try:
        return pb.PluginItem(failed=codec.run_failure_to_wire(error))
    except Exception as fault:  # noqa: BLE001 - an author's error may hold anything
        text = f"the strategy failed with {type(error).__name__}, which cannot be sent: {fault}"
        return pb.PluginItem(failed=codec.run_failure_to_wire(InternalError(text)))

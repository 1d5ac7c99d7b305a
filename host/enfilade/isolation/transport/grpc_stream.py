"""The stream that carries one run over gRPC."""

import asyncio
from typing import Any

import grpc

from enfilade.isolation.output import visible
from enfilade_sdk.serving.link import StreamBrokenError
from enfilade_wire.v1 import strategy_pb2 as pb


class GrpcRunStream:
    """A Run call of grpc.aio whose reads outlive their reader.

    grpc.aio cancels a whole call when a task that waits for one of its reads is cancelled. Here the reads have tasks of
    their own, one at a time and one ahead, so that a run whose caller was cancelled can still be seen to end.
    """

    def __init__(self, call: Any) -> None:
        self._call = call
        self._reading = self._read()
        self._frame: pb.PluginFrame | None = None

    @property
    def done(self) -> bool:
        """Whether the call is over and all that came was read."""
        return bool(self._call.done()) and self._reading.done()

    @property
    def frame_bytes(self) -> int:
        """Bytes of the frame that was read last."""
        return self._frame.ByteSize() if self._frame is not None else 0

    async def read(self) -> pb.PluginFrame | None:
        """The next frame; None at the end of a call that went well."""
        try:
            frame = await asyncio.shield(self._reading)
        except grpc.aio.AioRpcError as error:
            raise broken(error) from None
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise StreamBrokenError("the connection was closed") from None
        if not isinstance(frame, pb.PluginFrame):
            return None
        self._frame = frame
        self._reading = self._read()
        return frame

    async def write(self, message: pb.HostFrame) -> None:
        """Writes a frame; waits for flow control. A task that is cancelled in it takes the call with it."""
        try:
            await self._call.write(message)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError) as error:
            raise StreamBrokenError(f"the call is over: {error}") from None

    def cancel(self) -> None:
        """Ends the call."""
        self._call.cancel()

    def _read(self) -> "asyncio.Task[Any]":
        reading: asyncio.Task[Any] = asyncio.ensure_future(self._call.read())
        reading.add_done_callback(_retrieve)
        return reading


def broken(error: "grpc.aio.AioRpcError") -> StreamBrokenError:
    """What a call's status means for its run."""
    details = visible(error.details() or "")
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return StreamBrokenError(details, rule="a frame is within gRPC's limit")
    return StreamBrokenError(f"{error.code().name}: {details}", lost=error.code() is grpc.StatusCode.UNAVAILABLE)


def _retrieve(reading: "asyncio.Task[Any]") -> None:
    """Takes an error out of a read that nobody waits for any more."""
    if not reading.cancelled():
        reading.exception()


def _is_cancelled() -> bool:
    """Whether this task is being cancelled; grpc.aio raises the same error when its own call is."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

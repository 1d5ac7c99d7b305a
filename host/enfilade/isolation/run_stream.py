"""The stream that carries one run, as the host holds it."""

import asyncio
from typing import Any

from enfilade_wire.v1 import strategy_pb2 as pb


class RunStream:
    """A Run call of grpc.aio whose reads outlive their reader.

    grpc.aio cancels a whole call when a task that waits for one of its reads is cancelled. Here the reads have tasks of
    their own, one at a time and one ahead, so that a run whose caller was cancelled can still be seen to end.
    """

    def __init__(self, call: Any) -> None:
        self._call = call
        self._reading = self._read()

    @property
    def done(self) -> bool:
        """Whether the call is over and all that came was read."""
        return bool(self._call.done()) and self._reading.done()

    async def read(self) -> pb.PluginFrame | None:
        """The next frame; None at the end of a call that went well.

        Raises:
            AioRpcError: The call ended otherwise.
            CancelledError: This task was cancelled, or the call was, here.
        """
        frame = await asyncio.shield(self._reading)
        if not isinstance(frame, pb.PluginFrame):
            return None
        self._reading = self._read()
        return frame

    async def write(self, frame: pb.HostFrame) -> None:
        """Writes a frame; waits for flow control. A task that is cancelled in it takes the call with it.

        Raises:
            AioRpcError: The call is over.
            InvalidStateError: The same.
        """
        await self._call.write(frame)

    def cancel(self) -> None:
        """Ends the call."""
        self._call.cancel()

    def _read(self) -> "asyncio.Task[Any]":
        reading: asyncio.Task[Any] = asyncio.ensure_future(self._call.read())
        reading.add_done_callback(_retrieve)
        return reading


def _retrieve(reading: "asyncio.Task[Any]") -> None:
    """Takes an error out of a read that nobody waits for any more."""
    if not reading.cancelled():
        reading.exception()

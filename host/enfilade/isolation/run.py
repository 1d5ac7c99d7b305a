"""The host's end of one run on a guest: the start goes down, messages and calls come up, exactly one end."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, Protocol

from enfilade.isolation.calls import CALLS, GuestCalls
from enfilade.isolation.transport.stream import RunStream
from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError, LimitExceededError, ProtocolError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.serving.link import StreamBrokenError
from enfilade_sdk.serving.parts import MAX_ITEM_BYTES
from enfilade_wire.v1 import strategy_pb2 as pb

CANCEL_GRACE = 1.0
"""Seconds that a guest has to end a cancelled run before its process is stopped."""

END_GRACE = 2.0
"""Seconds that a guest has to close its side after the run's end."""

MOST_FAILURE = 128 * 1024
"""Characters of the text with which a run fails that are told; the SDK sends half as many."""


class StreamOwner(Protocol):
    """What a run's stream belongs to."""

    async def explain(self, broken: StreamBrokenError) -> EnfiladeError:
        """The error for a stream that broke off."""
        ...

    def overdue(self, reason: str) -> None:
        """Deals with a guest that does not end a cancelled run."""
        ...

    async def finish(self, tail: Coroutine[Any, Any, None]) -> None:
        """Sees the end of a run through, whoever is cancelled meanwhile."""
        ...


class GuestStream:
    """Drives one run. `messages` is to be closed by whoever iterates it."""

    def __init__(self, stream: RunStream, hatch: Hatch, owner: StreamOwner) -> None:
        self._stream = stream
        self._owner = owner
        self._outbox: Outbox[pb.HostItem] = Outbox()
        self._calls = GuestCalls(hatch, self._outbox, MAX_ITEM_BYTES)
        self._writer: asyncio.Task[None] | None = None
        self._ended = False

    async def messages(self, invocation: Invocation) -> AsyncGenerator[ToolInvokeMessage, None]:
        """The run's messages.

        Raises:
            EnfiladeError: The run failed in the guest; the guest died; or it broke a rule of the wire.
        """
        try:
            self._start(invocation)
            while not self._ended:
                for item in await self._read():
                    kind = item.WhichOneof("item")
                    if kind == "message" and not self._ended:
                        yield codec.message_from_wire(item.message)
                    else:
                        self._handle(kind, item)
            await self._check_end()
        finally:
            if self._calls.open or not self._stream.done:
                await self._owner.finish(self._close())
            self._outbox.close()

    def _start(self, invocation: Invocation) -> None:
        item = pb.HostItem(start=codec.start_to_wire(invocation, MAX_ITEM_BYTES))
        _check_size(item, "the run's start")
        self._writer = asyncio.ensure_future(self._write(item))

    async def _read(self) -> list[pb.PluginItem]:
        try:
            frame = await self._stream.read()
        except StreamBrokenError as broken:
            raise await self._owner.explain(broken) from None
        if frame is None:
            raise await self._owner.explain(StreamBrokenError("the stream ended without a terminal item"))
        items = list(frame.items)
        if self._stream.frame_bytes > MAX_ITEM_BYTES:
            for item in items:
                _check_size(item, f"a {item.WhichOneof('item')}")
        return items

    def _handle(self, kind: str | None, item: pb.PluginItem) -> None:
        if self._ended:
            raise ProtocolError(f"rule 'exactly one terminal item, and nothing after it' was broken: got {kind!r}")
        if kind in CALLS:
            self._calls.handle(kind, item)
        elif kind == "finished":
            self._ended = True
        elif kind == "failed":
            self._ended = True
            raise codec.run_failure_from_wire(_shortened(item.failed))
        else:
            raise ProtocolError(f"rule 'an item is one of the known kinds' was broken: got {kind!r}")

    async def _check_end(self) -> None:
        """After the end the guest closes its side and sends nothing more."""
        self._outbox.close()
        try:
            async with asyncio.timeout(END_GRACE):
                while (frame := await self._stream.read()) is not None:
                    for item in frame.items:
                        self._handle(item.WhichOneof("item"), item)
        except (TimeoutError, StreamBrokenError):  # the run itself has ended well
            return

    async def _write(self, start: pb.HostItem) -> None:
        with contextlib.suppress(StreamBrokenError):  # the reader finds out why
            await self._stream.write(pb.HostFrame(items=[start]))
            while items := await self._outbox.take():
                await self._stream.write(pb.HostFrame(items=items))
        self._outbox.close()

    async def _close(self) -> None:
        """Lets go of the calls, cancels a guest that is still at it, and waits for it within the grace."""
        running = self._writer is not None and not self._ended and not self._stream.done
        if running and not self._outbox.closed:
            self._outbox.push(pb.HostItem(cancel=pb.Cancel(reason="the caller gave the run up")), 0)
        self._outbox.close()
        try:
            waits = [self._calls.close(), self._wait_for_end()] if running else [self._calls.close()]
            await asyncio.gather(*waits)
        finally:
            self._stream.cancel()
            if self._writer is not None:
                self._writer.cancel()

    async def _wait_for_end(self) -> None:
        try:
            async with asyncio.timeout(CANCEL_GRACE):
                while await self._stream.read() is not None:
                    pass
        except TimeoutError:
            self._owner.overdue(f"a cancelled run did not end within {CANCEL_GRACE:g} s")
        except StreamBrokenError:
            return


def _shortened(failed: pb.Failed) -> pb.Failed:
    """The failure with a text that fits into logs and records."""
    if (more := len(failed.message) - MOST_FAILURE) > 0:
        failed.message = f"{failed.message[:MOST_FAILURE]} ... ({more} characters more)"
    return failed


def _check_size(item: pb.HostItem | pb.PluginItem, what: str) -> None:
    size = item.ByteSize()
    if size > MAX_ITEM_BYTES:
        raise LimitExceededError(f"{what} of {size} bytes is over the limit of {MAX_ITEM_BYTES} bytes for one item")

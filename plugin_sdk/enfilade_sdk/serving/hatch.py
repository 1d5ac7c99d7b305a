"""The guest's hatch: a run's calls travel up the stream that the host opened, their answers come down it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from itertools import count
from typing import Any, TypeVar, cast

from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError, LimitExceededError
from enfilade_sdk.inbox import WINDOW, Inbox
from enfilade_sdk.json_text import json_value
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, StorageRequest, ToolRequest, ToolResult
from enfilade_wire.v1 import strategy_pb2 as pb

Answer = ModelChunk | ModelResult | ToolInvokeMessage | ToolResult
End = TypeVar("End", ModelResult, ToolResult)

_ANSWERS: Mapping[str, Callable[[Any], Answer]] = {
    "model_chunk": codec.chunk_from_wire,
    "model_done": codec.result_from_wire,
    "tool_message": lambda answer: codec.message_from_wire(answer.message),
    "tool_done": codec.tool_result_from_wire,
}
"""How the answers that go into a call's inbox are read. Their sizes are counted as the host counts them: the item's."""


class StreamHatch:
    """Sends calls into the outbox of a run's stream and sorts the answers by call id.

    Attributes:
        limit: Bytes that one item may have, 0 for any number.
    """

    def __init__(self, outbox: Outbox[pb.PluginItem]) -> None:
        self.limit = 0
        self._outbox = outbox
        self._ids = count(1)
        self._inboxes: dict[int, Inbox[Answer]] = {}
        self._values: dict[int, asyncio.Future[Any]] = {}
        self._closed: EnfiladeError | None = None

    def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """A model call over the stream."""
        call_id = next(self._ids)
        item = pb.PluginItem(model_call=codec.model_request_to_wire(call_id, request, WINDOW))
        return cast(AsyncGenerator[ModelChunk | ModelResult, None], self._call(call_id, item, ModelResult))

    def tool(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        """A tool call over the stream."""
        call_id = next(self._ids)
        item = pb.PluginItem(tool_call=codec.tool_request_to_wire(call_id, request, WINDOW))
        return cast(AsyncGenerator[ToolInvokeMessage | ToolResult, None], self._call(call_id, item, ToolResult))

    async def storage(self, request: StorageRequest) -> Any:
        """A use of the small storage over the stream."""
        call_id = next(self._ids)
        item = pb.PluginItem(storage_call=codec.storage_request_to_wire(call_id, request))
        future = self._values[call_id] = asyncio.get_running_loop().create_future()
        try:
            await self._put(item, "a storage call")
            return await future
        finally:
            del self._values[call_id]

    async def _call(self, call_id: int, item: pb.PluginItem, end: type[End]) -> AsyncGenerator[Answer, None]:
        inbox: Inbox[Answer] = Inbox(lambda units: self._give_credit(call_id, units))
        self._inboxes[call_id] = inbox
        open_ = False
        try:
            await self._put(item, f"a {end.__name__.removesuffix('Result').lower()} call")
            open_ = True
            while open_:
                for answer in await inbox.take():
                    open_ = open_ and not isinstance(answer, end)
                    yield answer
        except EnfiladeError:
            open_ = False
            raise
        finally:
            del self._inboxes[call_id]
            if open_:
                self._send(pb.PluginItem(cancel_call=pb.CancelCall(call_id=call_id)))

    async def _put(self, item: pb.PluginItem, what: str) -> None:
        if self._closed is not None:
            raise self._closed
        size = item.ByteSize()
        if self.limit and size > self.limit:
            raise LimitExceededError(f"{what} of {size} bytes is over the limit of {self.limit} bytes for one item")
        await self._outbox.put(item, size)

    def _give_credit(self, call_id: int, units: int) -> None:
        self._send(pb.PluginItem(credit=pb.Credit(call_id=call_id, units=units)))

    def _send(self, item: pb.PluginItem) -> None:
        if not self._outbox.closed:
            self._outbox.push(item, 16)

    def answer(self, item: pb.HostItem) -> None:
        """Hands an answer to the call it belongs to; one that was given up meanwhile is passed over.

        Raises:
            ProtocolError: The answer cannot be read.
        """
        kind = item.WhichOneof("item") or ""
        if read := _ANSWERS.get(kind):
            answer = getattr(item, kind)
            inbox = self._inboxes.get(answer.call_id)
            if inbox is not None:
                inbox.put(read(answer), item.ByteSize())
        elif kind == "storage_value":
            self._value(item.storage_value)
        elif kind == "call_failed":
            self._fail(item.call_failed)

    def close(self, error: EnfiladeError) -> None:
        """Ends every open call with an error, and refuses new ones with it."""
        self._closed = self._closed or error
        for inbox in list(self._inboxes.values()):
            inbox.fail(error)
        for future in list(self._values.values()):
            if not future.done():
                future.set_exception(error)

    def _value(self, value: pb.StorageValue) -> None:
        future = self._values.get(value.call_id)
        if future is not None and not future.done():
            stored = json_value(value.value_json, "storage_value") if value.HasField("value_json") else None
            future.set_result(stored)

    def _fail(self, failed: pb.CallFailed) -> None:
        error = codec.failure_from_wire(failed)
        inbox, future = self._inboxes.get(failed.call_id), self._values.get(failed.call_id)
        if inbox is not None:
            inbox.fail(error)
        elif future is not None and not future.done():
            future.set_exception(error)

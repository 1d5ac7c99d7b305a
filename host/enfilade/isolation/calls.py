"""Answers a guest's calls through the run's hatch and sends the answers down its stream."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any

from enfilade.isolation.credit import Credit
from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError, InternalError, LimitExceededError, ProtocolError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.json_text import json_text
from enfilade_sdk.inbox import cost
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.prompts import ModelResult, ToolResult
from enfilade_wire.v1 import strategy_pb2 as pb

_log = logging.getLogger(__name__)

OPEN_CALLS = 256
"""Calls that one run may have open at once."""


class GuestCalls:
    """The open calls of one run on a guest."""

    def __init__(self, hatch: Hatch, outbox: Outbox[pb.HostItem], max_item_bytes: int) -> None:
        self._hatch = hatch
        self._outbox = outbox
        self._max_item_bytes = max_item_bytes
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._credits: dict[int, Credit] = {}
        self._used: set[int] = set()

    def handle(self, kind: str, item: pb.PluginItem) -> None:
        """Opens, cancels or feeds a call.

        Raises:
            ProtocolError: A call id is reused or unknown, or too many calls are open.
        """
        if kind == "model_call":
            self._open(item.model_call.call_id, item.model_call.window, self._model(item.model_call))
        elif kind == "tool_call":
            self._open(item.tool_call.call_id, item.tool_call.window, self._tool(item.tool_call))
        elif kind == "storage_call":
            self._open(item.storage_call.call_id, 0, self._storage(item.storage_call))
        elif kind == "cancel_call":
            self._known(item.cancel_call.call_id)
            if task := self._tasks.get(item.cancel_call.call_id):
                task.cancel()
        elif kind == "credit":
            self._known(item.credit.call_id)
            if credit := self._credits.get(item.credit.call_id):
                credit.give(item.credit.units)

    async def close(self) -> None:
        """Gives up the calls that are still open and waits until they have let go."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)

    def _open(self, call_id: int, window: int, answer: Coroutine[Any, Any, None]) -> None:
        try:
            self._claim(call_id)
            self._credits[call_id] = Credit(window)
        except ProtocolError:
            answer.close()
            raise
        task = asyncio.ensure_future(self._answered(call_id, answer))
        self._tasks[call_id] = task

    def _claim(self, call_id: int) -> None:
        if call_id in self._used or call_id == 0:
            raise ProtocolError(f"rule 'a call id is new and not 0' was broken: got {call_id}")
        if len(self._tasks) >= OPEN_CALLS:
            raise ProtocolError(f"rule 'at most {OPEN_CALLS} calls are open at once' was broken")
        self._used.add(call_id)

    def _known(self, call_id: int) -> None:
        if call_id not in self._used:
            raise ProtocolError(f"rule 'a call id names a call that was opened' was broken: got {call_id}")

    async def _answered(self, call_id: int, answer: Coroutine[Any, Any, None]) -> None:
        try:
            await answer
        except EnfiladeError as error:
            await self._fail(call_id, error)
        except Exception as error:  # noqa: BLE001 - a fault of ours must reach the guest as an answer
            _log.exception("answering a guest's call failed")
            await self._fail(call_id, InternalError(f"the host failed to answer: {type(error).__name__}"))
        finally:
            self._tasks.pop(call_id, None)
            self._credits.pop(call_id, None)

    async def _fail(self, call_id: int, error: EnfiladeError) -> None:
        if not self._outbox.closed:
            await self._send(pb.HostItem(call_failed=codec.failure_to_wire(call_id, error)))

    async def _send(self, item: pb.HostItem) -> None:
        await self._outbox.put(item, item.ByteSize())

    def _checked(self, item: pb.HostItem, what: str) -> tuple[pb.HostItem, int]:
        size = item.ByteSize()
        if size > self._max_item_bytes:
            raise LimitExceededError(
                f"{what} of {size} bytes is over the limit of {self._max_item_bytes} bytes for one item"
            )
        return item, size

    async def _model(self, call: pb.ModelCall) -> None:
        call_id, credit = call.call_id, self._credits[call.call_id]
        answers = self._hatch.model(codec.model_request_from_wire(call))
        async with aclosing(answers):  # type: ignore[type-var]  # hatches give async generators
            async for answer in answers:
                if isinstance(answer, ModelResult):
                    item, what = pb.HostItem(model_done=codec.result_to_wire(call_id, answer)), "a model's answer"
                else:
                    item, what = pb.HostItem(model_chunk=codec.chunk_to_wire(call_id, answer)), "a model's chunk"
                await self._pass_on(credit, *self._checked(item, what))

    async def _tool(self, call: pb.ToolCall) -> None:
        call_id, credit = call.call_id, self._credits[call.call_id]
        answers = self._hatch.tool(codec.tool_request_from_wire(call))
        async with aclosing(answers):  # type: ignore[type-var]  # hatches give async generators
            async for answer in answers:
                if isinstance(answer, ToolResult):
                    item, what = pb.HostItem(tool_done=codec.tool_result_to_wire(call_id, answer)), "a tool's result"
                else:
                    message = codec.message_to_wire(answer)
                    item = pb.HostItem(tool_message=pb.ToolMessage(call_id=call_id, message=message))
                    what = f"a tool's {answer.type.value} message"
                await self._pass_on(credit, *self._checked(item, what))

    async def _pass_on(self, credit: Credit, item: pb.HostItem, size: int) -> None:
        await credit.spend(cost(size))
        await self._outbox.put(item, size)

    async def _storage(self, call: pb.StorageCall) -> None:
        request = codec.storage_request_from_wire(call)
        value = await self._hatch.storage(request)
        text = None if value is None else json_text(value)
        await self._send(pb.HostItem(storage_value=pb.StorageValue(call_id=call.call_id, value_json=text)))

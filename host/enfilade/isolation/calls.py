"""Answers a guest's calls through the run's hatch and sends the answers down its stream."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final

from enfilade.isolation.credit import Credit
from enfilade_sdk import codec
from enfilade_sdk.errors import EnfiladeError, InternalError, LimitExceededError, ProtocolError, RunCancelled
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.inbox import cost
from enfilade_sdk.json_text import json_text
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.prompts import ModelResult, ToolResult
from enfilade_wire.v1 import strategy_pb2 as pb

_log = logging.getLogger(__name__)

OPEN_CALLS = 256
"""Calls that one run may have open at once."""

ALL_CALLS = 100_000
"""Calls that one run may make in all; their ids are remembered, so that none is used twice."""

CLOSE_SECONDS = 1.0
"""Seconds that calls have to let go when their run is over."""

CALLS: Final = frozenset({"model_call", "tool_call", "storage_call", "cancel_call", "credit"})
"""The kinds of items that open, feed or close a call."""

Answer = Coroutine[Any, Any, None]


class GuestCalls:
    """The open calls of one run on a guest."""

    def __init__(self, hatch: Hatch, outbox: Outbox[pb.HostItem], max_item_bytes: int) -> None:
        self._hatch = hatch
        self._outbox = outbox
        self._max_item_bytes = max_item_bytes
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._credits: dict[int, Credit] = {}
        self._used: set[int] = set()

    @property
    def open(self) -> bool:
        """Whether one is under way."""
        return bool(self._tasks)

    def handle(self, kind: str, item: pb.PluginItem) -> None:
        """Opens, cancels or feeds a call.

        Raises:
            ProtocolError: A call id is reused or unknown, or too many calls are open.
            LimitExceededError: The run makes too many calls.
        """
        if kind == "model_call":
            call = item.model_call
            self._open(call.call_id, Credit(call.window), lambda credit: self._model(call, credit))
        elif kind == "tool_call":
            tool = item.tool_call
            self._open(tool.call_id, Credit(tool.window), lambda credit: self._tool(tool, credit))
        elif kind == "storage_call":
            self._open(item.storage_call.call_id, Credit(0), lambda _: self._storage(item.storage_call))
        elif kind == "cancel_call":
            self._check_known(item.cancel_call.call_id)
            if task := self._tasks.get(item.cancel_call.call_id):
                task.cancel()
        elif kind == "credit":
            self._check_known(item.credit.call_id)
            if credit := self._credits.get(item.credit.call_id):
                credit.give(item.credit.units)

    async def close(self) -> None:
        """Gives up the calls that are still open and waits, for a bounded time, until they have let go."""
        tasks = set(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            _, stuck = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            if stuck:
                _log.warning("%d calls of a run that is over have not ended; they are left to themselves", len(stuck))

    def _open(self, call_id: int, credit: Credit, answer: Callable[[Credit], Answer]) -> None:
        self._claim(call_id)
        task = asyncio.ensure_future(self._answered(call_id, answer, credit))
        self._tasks[call_id], self._credits[call_id] = task, credit
        task.add_done_callback(lambda _: self._forget(call_id))

    def _forget(self, call_id: int) -> None:
        self._tasks.pop(call_id, None)
        self._credits.pop(call_id, None)

    def _claim(self, call_id: int) -> None:
        if call_id in self._used or call_id == 0:
            raise ProtocolError(f"rule 'a call id is new and not 0' was broken: got {call_id}")
        if len(self._tasks) >= OPEN_CALLS:
            raise ProtocolError(f"rule 'at most {OPEN_CALLS} calls are open at once' was broken")
        if len(self._used) >= ALL_CALLS:
            raise LimitExceededError(f"the run made more than {ALL_CALLS} calls")
        self._used.add(call_id)

    def _check_known(self, call_id: int) -> None:
        if call_id not in self._used:
            raise ProtocolError(f"rule 'a call id names a call that was opened' was broken: got {call_id}")

    async def _answered(self, call_id: int, answer: Callable[[Credit], Answer], credit: Credit) -> None:
        try:
            await answer(credit)
        except EnfiladeError as error:
            await self._fail(call_id, error)
        except Exception as error:  # noqa: BLE001 - a fault of ours must reach the guest as an answer
            _log.exception("answering a guest's call failed")
            await self._fail(call_id, InternalError(f"the host failed to answer: {type(error).__name__}"))

    async def _fail(self, call_id: int, error: EnfiladeError) -> None:
        item = pb.HostItem(call_failed=codec.failure_to_wire(call_id, error))
        try:
            await self._outbox.put(item, item.ByteSize())
        except RunCancelled:  # the run is over, nobody waits for it
            return

    async def _model(self, call: pb.ModelCall, credit: Credit) -> None:
        call_id = call.call_id
        async with aclosing(self._hatch.model(codec.model_request_from_wire(call))) as answers:
            async for answer in answers:
                if isinstance(answer, ModelResult):
                    done = pb.HostItem(model_done=codec.result_to_wire(call_id, answer))
                    return await self._pass_on(credit, done, "a model's answer")
                chunk = pb.HostItem(model_chunk=codec.chunk_to_wire(call_id, answer))
                await self._pass_on(credit, chunk, "a model's chunk")
        raise InternalError("the model's answer ended without a result")

    async def _tool(self, call: pb.ToolCall, credit: Credit) -> None:
        call_id = call.call_id
        async with aclosing(self._hatch.tool(codec.tool_request_from_wire(call))) as answers:
            async for answer in answers:
                if isinstance(answer, ToolResult):
                    done = pb.HostItem(tool_done=codec.tool_result_to_wire(call_id, answer))
                    return await self._pass_on(credit, done, "a tool's result")
                item = pb.HostItem(tool_message=pb.ToolMessage(call_id=call_id))
                codec.write_message(item.tool_message.message, answer)
                await self._pass_on(credit, item, f"a tool's {answer.type.value} message")
        raise InternalError("the tool's answer ended without a result")

    async def _storage(self, call: pb.StorageCall) -> None:
        value = await self._hatch.storage(codec.storage_request_from_wire(call))
        text = None if value is None else json_text(value)
        item = pb.HostItem(storage_value=pb.StorageValue(call_id=call.call_id, value_json=text))
        await self._outbox.put(item, self._checked_size(item, "a stored value"))

    async def _pass_on(self, credit: Credit, item: pb.HostItem, what: str) -> None:
        size = self._checked_size(item, what)
        units = cost(size)
        if not credit.take(units):
            await credit.spend(units)
        if not self._outbox.offer(item, size):
            await self._outbox.put(item, size)

    def _checked_size(self, item: pb.HostItem, what: str) -> int:
        size = item.ByteSize()
        if size > self._max_item_bytes:
            raise LimitExceededError(
                f"{what} of {size} bytes is over the limit of {self._max_item_bytes} bytes for one item"
            )
        return size

"""Strategies in the host's own process, on the operator's word."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from enfilade.candidate import Candidate
from enfilade_sdk import codec
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import InternalError, RunCancelled
from enfilade_sdk.execution import execute
from enfilade_sdk.handoff import weight
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import TextPayload, ToolInvokeMessage
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.serving.parts import MAX_ITEM_BYTES, check_size, is_whole, parts_of
from enfilade_sdk.serving.plugin import Offer, Plugin, extend_path

_log = logging.getLogger(__name__)

CANCEL_GRACE = 1.0
"""Seconds that a cancelled strategy has to end before it is left to itself."""


class InProcess:
    """Opens a plugin's strategies here and runs them on the host's loop (plain generators in threads).

    A run has a task of its own, as it has in a guest, so that its caller is never held by a strategy that does not end.
    """

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        self._plugin: Plugin | None = None
        self._left: set[asyncio.Task[None]] = set()

    async def describe(self) -> list[StrategyDescription]:
        """Imports the plugin, once; gives what it offers."""
        return self._opened().descriptions

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs one of its strategies.

        Raises:
            NotAdmittedError: It has no strategy of that name.
            EnfiladeError: The run failed.
        """
        strategy = self._opened().find(invocation.strategy)
        outbox: Outbox[ToolInvokeMessage] = Outbox()
        task = asyncio.ensure_future(_feed(outbox, strategy, invocation, hatch))
        try:
            while batch := await outbox.take():
                for message in batch:
                    yield message
            await _outcome(task)
        finally:
            outbox.close()
            await self._end(task)

    async def stop(self) -> None:
        """Nothing to stop: what was imported stays."""

    def _opened(self) -> Plugin:
        if self._plugin is None:
            extend_path(self._candidate.paths)
            self._plugin = Plugin([Offer(offer.name, offer.target) for offer in self._candidate.offers])
        return self._plugin

    async def _end(self, task: asyncio.Task[None]) -> None:
        """Cancels a strategy that is still at it; one that does not end in time is left to itself."""
        for seconds in (CANCEL_GRACE, CANCEL_GRACE / 10):  # the second cancel frees the task from a thread it waits for
            if task.done():
                break
            task.cancel()
            await asyncio.wait({task}, timeout=seconds)
            if not task.done() and task not in self._left:
                self._leave(task)
        if task.done() and not task.cancelled():
            task.exception()  # the caller has met it, or has gone

    def _leave(self, task: asyncio.Task[None]) -> None:
        self._left.add(task)
        task.add_done_callback(self._left.discard)
        _log.warning(
            "a cancelled strategy of plugin %r did not end within %g s and is left to itself; "
            "run the plugin in a process of its own to have it stopped",
            self._candidate.plugin,
            CANCEL_GRACE,
        )


async def _feed(outbox: Outbox[ToolInvokeMessage], strategy: Any, invocation: Invocation, hatch: Hatch) -> None:
    """Runs a strategy on values of its own, as it has them in a guest: what it changes later changes nothing here."""
    try:
        own = codec.start_from_wire(codec.start_to_wire(invocation, MAX_ITEM_BYTES))
        async with aclosing(execute(strategy, own, hatch)) as messages:
            async for message in messages:
                for part in (message,) if is_whole(message) else parts_of(message):
                    await outbox.put(_crossed(part), weight(part))
    finally:
        outbox.close()


def _crossed(message: ToolInvokeMessage) -> ToolInvokeMessage:
    """A message as it would come out of a guest; a plain text is that already."""
    payload = message.message
    if message.meta is None and type(payload) is TextPayload and payload.text.isascii():
        check_size(message, len(payload.text), MAX_ITEM_BYTES)
        return message
    wire = codec.message_to_wire(message)
    check_size(message, wire.ByteSize(), MAX_ITEM_BYTES)
    return codec.message_from_wire(wire)


async def _outcome(task: asyncio.Task[None]) -> None:
    """Passes the end of the strategy's task on; its own cancellation is not the caller's."""
    await asyncio.wait({task})
    if task.cancelled():
        raise RunCancelled("the run was cancelled")
    error = task.exception()
    if error is None:
        return
    if not isinstance(error, Exception):
        raise InternalError(f"the strategy raised {type(error).__name__}: {error}")
    raise error

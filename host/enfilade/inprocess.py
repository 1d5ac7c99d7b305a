"""Strategies in the host's own process, on the operator's word."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import Any

from enfilade.candidate import Candidate
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import NotAdmittedError
from enfilade_sdk.execution import execute
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.serving.plugin import Offer, Plugin, extend_path

_log = logging.getLogger(__name__)

CANCEL_GRACE = 2.0
"""Seconds that a cancelled strategy has to end before its thread is left to itself."""


class InProcess:
    """Opens a plugin's strategies here and runs them on the host's loop (plain generators in threads)."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        self._plugin: Plugin | None = None

    async def describe(self) -> list[StrategyDescription]:
        """Imports the plugin, once; gives what it offers."""
        if self._plugin is None:
            extend_path(list(self._candidate.paths))
            self._plugin = Plugin([Offer(offer.name, offer.target) for offer in self._candidate.offers])
        return self._plugin.descriptions

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs one of its strategies."""
        await self.describe()
        messages = execute(self._strategy(invocation.strategy), invocation, hatch)
        try:
            async for message in messages:
                yield message
        finally:
            await self._close(messages)

    async def stop(self) -> None:
        """Nothing to stop: what was imported stays."""

    def _strategy(self, name: str) -> Any:
        if self._plugin is None:
            raise NotAdmittedError(f"strategy {name!r} is not open")
        return self._plugin.find(name)

    async def _close(self, messages: AsyncGenerator[ToolInvokeMessage, None]) -> None:
        closing = asyncio.ensure_future(_closed(messages))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_GRACE):
                await asyncio.shield(closing)
            return
        _log.warning(
            "a cancelled strategy of plugin %r did not end within %g s; its thread is left to itself "
            "(run the plugin isolated to have it stopped)",
            self._candidate.plugin,
            CANCEL_GRACE,
        )


async def _closed(messages: AsyncGenerator[ToolInvokeMessage, None]) -> None:
    with contextlib.suppress(Exception):  # the run is over; what its clean-up raises is nobody's answer
        await messages.aclose()

"""Reads server-sent events, and takes a stream up again where it broke."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from enfilade.tools.mcp.lines import LINE_LIMIT

if TYPE_CHECKING:
    import httpx2

MOST_RESUMED = 3
"""How often in a row the stream of one request is taken up again."""

FIRST_DELAY = 1.0
"""Seconds before a stream is taken up again, where the server does not say."""

LONGEST_DELAY = 30.0
"""Seconds between two attempts, at most."""


class EventStream:
    """The data of events, from one response or from several that follow each other.

    Args:
        reopen: Asks for the rest of the stream: what came after the event of that id; all there is for an empty one.
        endless: Whether the stream is taken up again for ever; else only where its events have ids, and not for ever.
    """

    def __init__(
        self, reopen: "Callable[[str], AbstractAsyncContextManager[httpx2.Response]]", *, endless: bool = False
    ) -> None:
        self._reopen = reopen
        self._endless = endless
        self._last_id = ""
        self._delay = FIRST_DELAY
        self._breaks = 0

    async def data(self, response: "httpx2.Response | None" = None) -> AsyncGenerator[str, None]:
        """The data of the events.

        Args:
            response: The stream's first response; None asks for it.

        Raises:
            HTTPError: It broke, and cannot be taken up again; or an event is too large.
        """
        import httpx2

        while True:
            source = nullcontext(response) if response is not None else self._reopen(self._last_id)
            try:
                async with source as opened:
                    async for event in httpx2.EventSource(opened, max_event_size=LINE_LIMIT):
                        self._note(event)
                        if event.data and event.event == "message":
                            yield event.data
            except httpx2.SSEError:
                raise
            except httpx2.TransportError:
                if not self._goes_on:
                    raise
            if not self._goes_on:
                return
            response = None
            self._breaks += 1
            await asyncio.sleep(min(self._delay * 2 ** max(0, self._breaks - 1), LONGEST_DELAY))

    @property
    def _goes_on(self) -> bool:
        return self._endless or (bool(self._last_id) and self._breaks < MOST_RESUMED)

    def _note(self, event: "httpx2.ServerSentEvent") -> None:
        self._last_id = event.id or self._last_id
        if event.retry is not None:
            self._delay = max(0, event.retry) / 1000
        if event.data:
            self._breaks = 0

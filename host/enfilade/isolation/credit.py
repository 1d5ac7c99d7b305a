"""How much of an answer a guest is willing to take ahead of its reader."""

import asyncio

from enfilade_sdk.errors import ProtocolError

MAX_WINDOW = 1 << 20
"""Units; more at once is a mistake or a lie."""


class Credit:
    """The window of one call. A window of 0 leaves it to the stream's flow control."""

    def __init__(self, window: int) -> None:
        if window > MAX_WINDOW:
            raise ProtocolError(f"rule 'a window is at most {MAX_WINDOW} units' was broken: got {window}")
        self._unlimited = window == 0
        self._units = window
        self._given: asyncio.Future[None] | None = None

    async def spend(self, units: int) -> None:
        """Takes units off; waits while there are none. The last item may take the count below zero."""
        while not self.take(units):
            self._given = asyncio.get_running_loop().create_future()
            await self._given

    def take(self, units: int) -> bool:
        """Takes units off if there are any; says whether there were."""
        if self._units <= 0 and not self._unlimited:
            return False
        self._units -= units
        return True

    def give(self, units: int) -> None:
        """Adds units.

        Raises:
            ProtocolError: More was given than a window may hold.
        """
        self._units += units
        if self._units > MAX_WINDOW:
            raise ProtocolError(f"rule 'credit is at most {MAX_WINDOW} units' was broken")
        if self._given is not None and not self._given.done():
            self._given.set_result(None)

"""A clock that rings once."""

import asyncio
from collections.abc import Callable


class Alarm:
    """Rings a while after it was set; to set it again moves the moment.

    Args:
        ring: What is done then.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether it is going to ring."""
        return self._timer is not None

    def set(self, seconds: float) -> None:
        """Lets it ring in so many seconds."""
        self.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._rings)

    def cancel(self) -> None:
        """Lets it not ring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rings(self) -> None:
        self._timer = None
        self._ring()

"""Hears of the states of a plugin and waits for them."""

import asyncio
from collections.abc import Callable

from enfilade.isolation.supervision.states import State, StateChange, supervised

BOUND = 20.0
"""Seconds in which whatever is waited for must have come about; a machine may be busy."""


class Heard:
    """All changes so far, in their order."""

    def __init__(self, runner: object) -> None:
        self.changes: list[StateChange] = []
        self._news = asyncio.Event()
        care = supervised(runner)
        assert care is not None
        self.care = care
        care.report_to(self._hear)

    def _hear(self, change: StateChange) -> None:
        self.changes.append(change)
        self._news.set()

    @property
    def states(self) -> list[State]:
        """The states that were taken on."""
        return [change.state for change in self.changes]

    def last(self, state: State) -> StateChange:
        """The last change to a state."""
        return next(change for change in reversed(self.changes) if change.state is state)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits until something holds, which may come with a change."""
        async with asyncio.timeout(BOUND):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def until_state(self, state: State, times: int = 1) -> None:
        """Waits until a state was taken on so often."""
        await self.until(lambda: self.states.count(state) >= times)

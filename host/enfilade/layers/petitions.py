"""A record of petitions in memory."""

import asyncio
from dataclasses import dataclass, field

from enfilade.petition import Decision, Petition


@dataclass(slots=True)
class _Open:
    petition: Petition
    decided: asyncio.Future[Decision] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class MemoryPetitions:
    """Keeps open petitions for whoever shows and decides them in this process, on the same event loop."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._opened = asyncio.Condition()

    async def open(self, petition: Petition) -> None:
        """Writes a petition down."""
        async with self._opened:
            self._open[petition.id] = _Open(petition)
            self._opened.notify_all()

    async def decision(self, petition_id: str) -> Decision:
        """Waits until somebody has decided."""
        return await self._open[petition_id].decided

    async def expire(self, petition_id: str) -> Decision | None:
        """Takes a petition off the record; gives the decision that came in the last moment."""
        entry = self._open.pop(petition_id)
        return entry.decided.result() if entry.decided.done() and not entry.decided.cancelled() else None

    async def close(self, petition_id: str) -> None:
        """Takes a petition off the record."""
        self._open.pop(petition_id, None)

    async def until(self, number: int = 1) -> list[Petition]:
        """Waits until so many petitions wait for a word; gives them, the oldest first."""
        async with self._opened:
            await self._opened.wait_for(lambda: len(self.waiting()) >= number)
        return self.waiting()

    def waiting(self) -> list[Petition]:
        """The petitions that nobody has decided yet, the oldest first."""
        return [entry.petition for entry in self._open.values() if not entry.decided.done()]

    def decide(self, petition_id: str, decision: Decision) -> bool:
        """Decides a petition; the first decision counts.

        Returns:
            Whether it was this one; False when nobody waits for it any more.
        """
        entry = self._open.get(petition_id)
        if entry is None or entry.decided.done():
            return False
        entry.decided.set_result(decision)
        return True

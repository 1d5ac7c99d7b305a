"""How a tool call that waits for a word is put to somebody."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from enfilade.petition import Decision, Petition

Ask = Callable[[Petition], Awaitable[Decision | bool]]
"""Puts a petition to somebody and waits for the word. It is cancelled when the petition expires or its run ends."""


class Petitions(Protocol):
    """A record of petitions that another task, or where it lasts another process, answers."""

    async def open(self, petition: Petition) -> None:
        """Writes a petition down."""
        ...

    async def decision(self, petition_id: str) -> Decision:
        """Waits until somebody has decided."""
        ...

    async def close(self, petition_id: str) -> None:
        """Takes a petition off the record that nobody waits for any more; a late decision has no effect."""
        ...


@dataclass(slots=True)
class AskRecord:
    """Asks through a record."""

    record: Petitions = field()

    async def __call__(self, petition: Petition) -> Decision:
        """Writes the petition down and waits for the decision."""
        await self.record.open(petition)
        try:
            return await self.record.decision(petition.id)
        finally:
            await self.record.close(petition.id)

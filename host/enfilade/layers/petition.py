"""How a tool call that waits for a word is put to somebody."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from enfilade.petition import Decision, Petition

Ask = Callable[[Petition], Awaitable[Decision | bool]]
"""Puts a petition to somebody and waits for the word. It is cancelled when its run ends, and when the petition expires
unless it is an `AskRecord`, which sees to that itself."""


class Petitions(Protocol):
    """A record of petitions that another task, or where it lasts another process, answers."""

    async def open(self, petition: Petition) -> None:
        """Writes a petition down."""
        ...

    async def decision(self, petition_id: str) -> Decision:
        """Waits until somebody has decided."""
        ...

    async def expire(self, petition_id: str) -> Decision | None:
        """Closes a petition whose time is over; gives a decision that came in time and was not heard yet."""
        ...

    async def close(self, petition_id: str) -> None:
        """Takes a petition off the record that nobody waits for any more; a late decision has no effect."""
        ...


@dataclass(slots=True)
class AskRecord:
    """Asks through a record."""

    record: Petitions = field()

    async def __call__(self, petition: Petition) -> Decision:
        """Writes the petition down and waits for the decision.

        Raises:
            TimeoutError: Nobody decided in time; from now on nobody can.
        """
        await self.record.open(petition)
        try:
            async with asyncio.timeout(max(0.0, petition.expires_at - time.time())):
                return await self.record.decision(petition.id)
        except TimeoutError:
            if (decision := await self.record.expire(petition.id)) is None:
                raise
            return decision
        finally:
            await self.record.close(petition.id)

"""The strategy of the soak: it takes its time, calls a tool once, and says which run it was."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any


class Steps:
    """Says a few things with pauses in between, calls the tool `note` once, and ends with its run's number."""

    def get_parameters(self) -> list[dict[str, Any]]:
        """What it takes."""
        return [{"name": "query", "type": "string"}, {"name": "pause", "type": "number", "default": 0.01}]

    async def invoke(self, *, params: dict[str, Any], session: Any) -> AsyncIterator[str]:
        """Runs."""
        number, pause = params["query"], params["pause"]
        for _ in range(3):
            yield "."
            await asyncio.sleep(pause)
        await session.tools.invoke("note", {"number": number})
        for _ in range(3):
            yield "."
            await asyncio.sleep(pause)
        yield f" {number}"

"""The loop everyone writes first, on the openai client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import openai

from benchmarks.peers.contender import Run, compete
from benchmarks.peers.hand_written import hand_written


@asynccontextmanager
async def contender(url: str) -> AsyncIterator[Run]:
    """One client."""
    async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
        yield lambda: hand_written(client)


if __name__ == "__main__":
    compete(contender)

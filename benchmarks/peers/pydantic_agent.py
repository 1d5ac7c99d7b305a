"""pydantic-ai, streamed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.peers.contender import QUESTION, Run, compete, look


@asynccontextmanager
async def contender(url: str) -> AsyncIterator[Run]:
    """One agent."""
    model = OpenAIChatModel("bench", provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, tools=[look])

    async def run() -> str:
        async with agent.iter(QUESTION) as steps:
            async for step in steps:
                if Agent.is_model_request_node(step):
                    async with step.stream(steps.ctx) as events:
                        async for _ in events:
                            pass
        assert steps.result is not None
        return str(steps.result.output)

    yield run


if __name__ == "__main__":
    compete(contender)

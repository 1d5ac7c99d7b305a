"""openai-agents, streamed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import openai
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled

from benchmarks.peers.contender import QUESTION, Run, compete, look


@asynccontextmanager
async def contender(url: str) -> AsyncIterator[Run]:
    """One agent; its tracing, which would call out, is off."""
    set_tracing_disabled(True)
    async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
        agent = Agent(name="bench", tools=[function_tool(look)], model=OpenAIChatCompletionsModel("bench", client))

        async def run() -> str:
            result = Runner.run_streamed(agent, QUESTION)
            async for _ in result.stream_events():
                pass
            return str(result.final_output)

        yield run


if __name__ == "__main__":
    compete(contender)

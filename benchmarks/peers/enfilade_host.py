"""This host, its strategy in a process of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.peers.contender import QUESTION, Run, compete, look
from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.host import Host
from enfilade.models.settings import ModelSettings
from enfilade.tools.entry import ToolEntry


@asynccontextmanager
async def contender(url: str) -> AsyncIterator[Run]:
    """One host."""
    config = Config(models={"bench": ModelSettings(name="bench", base_url=url)}, default_model="bench")
    agent = AgentConfig(strategy="function-calling", tools=(ToolEntry(tool=look),))
    async with Host(config) as host:

        async def run() -> str:
            outcome = await host.ask(agent, QUESTION)
            outcome.raise_for_error()
            return outcome.answer

        yield run


if __name__ == "__main__":
    compete(contender)

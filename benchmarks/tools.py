"""Five slow tools in one round."""

import asyncio
import time

from benchmarks.figure import Figure, middle, milliseconds
from benchmarks.model_server import model_server, script
from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.host import Host
from enfilade.models.settings import ModelSettings
from enfilade.tools.entry import ToolEntry
from enfilade_sdk.messages import LogPayload, LogStatus

TOOLS = 5
RUNS = 20


async def look(word: str) -> str:
    """Looks a word up, slowly.

    Args:
        word: The word.
    """
    await asyncio.sleep(0.1)
    return f"{word} is a word"


async def slow_tools() -> list[Figure]:
    """From the first call's log to the next round's, as the caller sees them."""
    with model_server(script(tools_a_round=TOOLS, rounds=2)) as url:
        config = Config(models={"bench": ModelSettings(name="bench", base_url=url)}, default_model="bench")
        agent = AgentConfig(strategy="function-calling", tools=(ToolEntry(tool=look),))
        async with Host(config) as host:
            seconds = [await _round(host, agent) for _ in range(RUNS)]
    took = middle(seconds)
    name = f"{TOOLS} tools of 100 ms in one round"
    return [Figure(name, milliseconds(took), "ideal: 100 ms", took / 0.1, "112 ms or less", took <= 0.112)]


async def _round(host: Host, agent: AgentConfig) -> float:
    begun = ended = 0.0
    async for message in host.run(agent, "Look them up."):
        log = message.message
        if isinstance(log, LogPayload) and log.status is LogStatus.START:
            if log.label.startswith("CALL") and not begun:
                begun = time.perf_counter()
            elif log.label == "ROUND 2":
                ended = time.perf_counter()
    return ended - begun

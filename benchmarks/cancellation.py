"""How soon a caller's cancel reaches what an isolated run has open: a model's HTTP request, a call of an MCP server."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from benchmarks.figure import Figure, middle, milliseconds
from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.host import Host
from enfilade.models.settings import ModelSettings
from enfilade.tools.mcp.settings import McpSettings
from tests.support.mcp_http import McpHttp, Reply
from tests.support.model_server import ModelServer
from tests.support.model_turns import Turn, call_turn, text_turn

TRIES = 15
AIM = 0.050

UNDERWAY_SECONDS = 0.05
"""How long a call goes on before it is given up: its first chunks have come through the run by then."""


class Watched(Protocol):
    """A server that tells when something holds of it."""

    async def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> None:
        """Waits until it does."""
        ...


async def cancellation() -> list[Figure]:
    """Both, with the function-calling strategy in a process of its own; the servers see their connections close."""
    return [await _model_calls(), await _tool_calls()]


async def _model_calls() -> Figure:
    words = [f"word{number} " for number in range(1000)]
    async with _model(text_turn(*words, pause=0.005)) as model, Host(_config(model)) as host:
        seconds = await _seconds(host, AgentConfig(), model, lambda: len(model.requests), lambda: model.dropped)
    return _figure("cancel to the end of the streaming request to the model", seconds)


async def _tool_calls() -> Figure:
    held = Reply(events=(), hold=asyncio.Event())
    async with McpHttp({"tools/call": lambda _: held}) as server, _model(call_turn("slow")) as model:
        agent = AgentConfig(tools=("mcp:harbour:slow",))
        async with Host(_config(model, server)) as host:
            seconds = await _seconds(host, agent, server, lambda: len(server.of("tools/call")), lambda: server.broken)
    return _figure("cancel to the end of the call at an MCP server (HTTP)", seconds)


async def _seconds(
    host: Host, agent: AgentConfig, server: Watched, begun: Callable[[], int], broken: Callable[[], int]
) -> list[float]:
    await host.prepare(agent)
    seconds = []
    for done in range(TRIES):
        run = asyncio.create_task(host.ask(agent, "Go on."))
        await server.until(_more(begun, done))
        await asyncio.sleep(UNDERWAY_SECONDS)
        assert broken() == done, "it ended by itself"
        cancelled = time.perf_counter()
        run.cancel()
        await server.until(_more(broken, done))
        seconds.append(time.perf_counter() - cancelled)
        await asyncio.wait({run})
    return seconds


def _more(count: Callable[[], int], than: int) -> Callable[[], bool]:
    return lambda: count() > than


def _figure(name: str, seconds: list[float]) -> Figure:
    value = middle(seconds)
    return Figure(name, milliseconds(value), target="50 ms or less", met=value <= AIM)


def _model(turn: Turn) -> ModelServer:
    return ModelServer([turn], repeat_last=True)


def _config(model: ModelServer, server: McpHttp | None = None) -> Config:
    return Config(
        models={"bench": ModelSettings(name="bench", base_url=model.base_url)},
        default_model="bench",
        default_strategy="function-calling",
        mcp={"harbour": McpSettings(url=server.url)} if server is not None else {},
    )

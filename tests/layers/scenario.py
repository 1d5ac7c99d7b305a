"""A host with layers, a scripted model and tools; and a run's context without a host."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.candidate import Candidate, Offer
from enfilade.config import Config, Price
from enfilade.extensions.loading import Extensions
from enfilade.host import Host
from enfilade.layers.chain import Chain, RunLayers
from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer
from enfilade.layers.prices import Prices
from enfilade.ledger import Ledger
from enfilade.models.settings import ModelSettings
from enfilade_sdk.invocation import Invocation, ModelInfo
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from tests.support.model_server import ModelServer
from tests.support.model_turns import Turn

Isolation = Literal["process", "inprocess"]

FOLDER = str(Path(__file__).parent)
OFFERS = (Offer("on-loop", "layer_strategies:OnLoop"), Offer("in-thread", "layer_strategies:InThread"))


NOTHING: tuple[Any, ...] = ()
"""What a stream gives that raises at once."""


def told(*steps: Any, strategy: str = "on-loop", tools: Iterable[Any] = (), **parameters: Any) -> AgentConfig:
    """An agent that does these steps (see `layer_strategies`)."""
    return AgentConfig(strategy=strategy, tools=tuple(tools), parameters={"steps": list(steps), **parameters})


@asynccontextmanager
async def hosted(
    layers: Iterable[Layer] | None,
    turns: Sequence[Turn] = (),
    *,
    isolation: Isolation = "inprocess",
    tools: Sequence[Any] = (),
    repeat_last: bool = False,
    extensions: Extensions | None = None,
    candidates: Sequence[Candidate] = (),
    config: Mapping[str, Any] | None = None,
) -> AsyncIterator[Host]:
    """A host of the strategies on trial, whose model plays these turns; the tools may be named by agents."""
    plugin = Candidate("trial", offers=OFFERS, isolation=isolation, paths=(FOLDER,), start_timeout=30)
    async with ModelServer(turns, repeat_last=repeat_last) as server:
        model = ModelSettings(name="scripted", base_url=server.base_url, max_retries=0)
        settings = Config(**({"default_model": "m", "models": {"m": model}} | dict(config or {})))
        plugins, extensions = [plugin, *candidates], extensions or Extensions()
        async with Host(settings, candidates=plugins, layers=layers, tools=tools, extensions=extensions) as host:
            yield host


def context(
    *,
    run_id: str = "r1",
    user: str = "ada",
    plugin: str = "p",
    model_name: str = "m",
    seconds: float = 60.0,
    prices: dict[str, Price] | None = None,
) -> RunContext:
    """A run's context, for layers that stand around something else than a run."""
    return RunContext(
        plugin=plugin,
        agent=AgentConfig(),
        question=Question("Well?", user_id=user),
        invocation=Invocation(strategy="s", params={}, run_id=run_id),
        parameters=(),
        model=ModelInfo(name="scripted"),
        model_name=model_name,
        settings=ModelSettings(name="scripted", base_url="http://127.0.0.1:9/v1"),
        ledger=Ledger(),
        prices=Prices(prices),
        deadline=asyncio.get_running_loop().time() + seconds,
    )


def run_layers(layers: Sequence[Layer], of: RunContext | None = None, *, patience: float = 5.0) -> RunLayers:
    """What the layers are to a run."""
    opened = Chain(layers, patience).open()
    opened.interruption = (of := of or context()).interruption
    opened.begin(of)
    return opened


REQUEST = ModelRequest(messages=(UserMessage(content="Well?"),), model="m")
LOOK = ToolRequest("look", "{}", "c1")


def answer(text: str = "yes", usage: Usage | None = None) -> ModelResult:
    """A model's result."""
    return ModelResult(AssistantMessage(content=text), usage=usage or Usage())


@dataclass
class Inner:
    """What the layers stand around: gives the items of its next script, an exception by raising it."""

    scripts: list[Sequence[Any]]
    opened: int = 0
    closed: int = 0

    async def stream(self, request: Any = None) -> AsyncGenerator[Any, None]:
        self.requests = [*getattr(self, "requests", []), request]
        script = self.scripts[min(self.opened, len(self.scripts) - 1)]
        self.opened += 1
        try:
            for item in script:
                if isinstance(item, BaseException):
                    raise item
                if isinstance(item, asyncio.Event):
                    await item.wait()
                    continue
                yield item
        finally:
            self.closed += 1


def model_inner(*scripts: Sequence[ModelChunk | ModelResult | BaseException | asyncio.Event]) -> Inner:
    """Model calls, one script each; the last one again and again."""
    return Inner(list(scripts) or [[ModelChunk("y"), ModelChunk("es"), answer()]])


def tool_inner(*scripts: Sequence[ToolInvokeMessage | ToolResult | BaseException | asyncio.Event]) -> Inner:
    """Tool calls, one script each; the last one again and again."""
    return Inner(list(scripts) or [[ToolResult("seen")]])


async def collected(stream: AsyncGenerator[Any, None]) -> list[Any]:
    """Everything that a stream gives."""
    return [item async for item in stream]

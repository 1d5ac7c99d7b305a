"""Runs of strategies on trial."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from enfilade.admission import Runner
from enfilade.candidate import Candidate, Offer
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import MessageType, TextPayload, ToolInvokeMessage
from tests.support import trial_callers, trial_endings, trial_strategies
from tests.support.trial_hatch import TrialHatch

ROOT = Path(__file__).parents[2]
OFFERS = tuple(
    Offer(name, f"{module.__name__}:{name}")
    for module in (trial_strategies, trial_callers, trial_endings)
    for name, value in vars(module).items()
    if isinstance(value, type) and trial_strategies.Trial in value.__bases__ and value.__module__ == module.__name__
)
"""All strategies on trial, by the names of their classes."""


def trial_candidate() -> Candidate:
    """A plugin that offers them."""
    return Candidate(plugin="trial", offers=OFFERS, paths=(str(ROOT),), start_timeout=30)


def begin(
    runner: Runner, strategy: str, hatch: TrialHatch | None = None, **params: Any
) -> AsyncGenerator[ToolInvokeMessage, None]:
    """A run's messages, not read yet."""
    return runner.run(Invocation(strategy, params, run_id="r"), hatch or TrialHatch())


async def messages(
    runner: Runner, strategy: str, hatch: TrialHatch | None = None, **params: Any
) -> list[ToolInvokeMessage]:
    """All messages of a run."""
    return [message async for message in begin(runner, strategy, hatch, **params)]


async def texts(runner: Runner, strategy: str, hatch: TrialHatch | None = None, **params: Any) -> list[str]:
    """The texts of a run's text messages."""
    return [text_of(m) for m in await messages(runner, strategy, hatch, **params) if m.type is MessageType.TEXT]


async def part(runner: Runner, strategy: str, number: int, hatch: TrialHatch | None = None, **params: Any) -> None:
    """Reads so many messages of a run and closes it."""
    async with aclosing(begin(runner, strategy, hatch, **params)) as run:
        for _ in range(number):
            await anext(run)


async def events(runner: Runner) -> list[str]:
    """What strategies noted in the process they ran in, since the last time."""
    return await texts(runner, "Recall")


async def noted(runner: Runner, last: str, seconds: float = 5.0) -> list[str]:
    """What strategies noted, as soon as the last of it is there."""
    got: list[str] = []
    async with asyncio.timeout(seconds):
        while last not in got:
            got += await events(runner)
    return got


def text_of(message: ToolInvokeMessage) -> str:
    """The text of a text message."""
    assert isinstance(message.message, TextPayload)
    return message.message.text

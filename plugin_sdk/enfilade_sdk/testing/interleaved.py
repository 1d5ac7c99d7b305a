"""Several runs of one strategy that take turns."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any

from enfilade_sdk.errors import DeadlineExceededError, EnfiladeError
from enfilade_sdk.execution import execute
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.testing.bounded import run_bounded
from enfilade_sdk.testing.outcome import StrategyRun
from enfilade_sdk.testing.paced import Gate, Paced
from enfilade_sdk.testing.run import Setup, StrategyHangsError

_Open = tuple[StrategyRun, Gate, AsyncGenerator[ToolInvokeMessage, None]]


def interleaved(strategy: Any, setups: Sequence[Setup]) -> list[StrategyRun]:
    """Runs one instance several times at once, one message from each run in turn.

    Raises:
        StrategyHangsError: A run went on after its time was up.
    """
    seconds, grace = max(setup.seconds for setup in setups), max(setup.grace for setup in setups)
    try:
        return run_bounded(lambda: _take_turns(strategy, setups, seconds), seconds + grace)
    except TimeoutError:
        raise StrategyHangsError(f"runs that took turns did not stop within {seconds + grace:g} s") from None


async def _take_turns(strategy: Any, setups: Sequence[Setup], seconds: float) -> list[StrategyRun]:
    runs = [StrategyRun(requests=setup.model.requests, calls=setup.tools.calls) for setup in setups]
    async with AsyncExitStack() as stack:
        waiting: list[_Open] = []
        for run, setup in zip(runs, setups, strict=True):
            gate = Gate()
            messages = execute(Paced(strategy, gate), setup.invocation(strategy), setup.hatch())
            waiting.append((run, gate, await stack.enter_async_context(aclosing(messages))))
            stack.callback(gate.open)
        try:
            async with asyncio.timeout(seconds):
                while waiting:
                    waiting = [each for each in waiting if await _step(*each)]
        except TimeoutError:
            for run, _, _ in waiting:
                run.error = DeadlineExceededError(f"the run was not over after {seconds:g} s")
    return runs


async def _step(run: StrategyRun, gate: Gate, messages: AsyncGenerator[ToolInvokeMessage, None]) -> bool:
    """Takes one message; tells whether there may be more."""
    gate.let()
    try:
        run.messages.append(await anext(messages))
    except StopAsyncIteration:
        return False
    except EnfiladeError as error:
        run.error = error
        return False
    return True

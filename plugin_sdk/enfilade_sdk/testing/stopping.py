"""Stops a strategy's generator at one of its yields and looks whether it goes on."""

import asyncio
import contextlib
import inspect
from collections.abc import AsyncGenerator, Generator
from typing import Any

from enfilade_sdk.errors import RunCancelled
from enfilade_sdk.execution import accepted_arguments
from enfilade_sdk.session import Session
from enfilade_sdk.testing.bounded import run_bounded
from enfilade_sdk.testing.run import Setup, StrategyHangsError


def went_on(strategy: Any, setup: Setup, count: int, *, closing: bool) -> tuple[int, str | None]:
    """Takes values of a run, in lock step, and stops it at the yield it has come to.

    Args:
        strategy: The strategy.
        setup: What the run is given.
        count: How many values to take before.
        closing: Close the generator; else raise in it what a cancelled run raises (`RunCancelled` in a generator,
            `CancelledError` in an async one).

    Returns:
        How many values there were to take, and what the strategy did instead of stopping (None when it stopped).

    Raises:
        StrategyHangsError: It did not stop within its time.
    """
    try:
        return run_bounded(lambda: _drive(strategy, setup, count, closing=closing), setup.seconds + setup.grace)
    except TimeoutError:
        seconds = setup.seconds + setup.grace
        raise StrategyHangsError(f"a run that was stopped after message {count} went on for {seconds:g} s") from None


async def _drive(strategy: Any, setup: Setup, count: int, *, closing: bool) -> tuple[int, str | None]:
    invocation = setup.invocation(strategy)
    session = Session(invocation, setup.hatch(), asyncio.get_running_loop())
    arguments = accepted_arguments(strategy.invoke, invocation, session)
    try:
        if inspect.isasyncgenfunction(strategy.invoke):
            return await _stop_async(strategy.invoke(**arguments), session, count, closing=closing)
        return await asyncio.to_thread(_stop, strategy.invoke(**arguments), session, count, closing=closing)
    finally:
        await session.close()


def _stop(produced: Any, session: Session, count: int, *, closing: bool) -> tuple[int, str | None]:
    if not isinstance(produced, Generator):
        return 0, None  # any other iterator cannot be told to stop, and is simply not asked again
    taken = 0
    with contextlib.suppress(Exception):  # whether a run succeeds is another check's question
        for _ in produced:
            taken += 1
            if taken == count:
                break
    session.cancel()
    return taken, _told(produced, closing=closing)


def _told(produced: Generator[Any, Any, Any], *, closing: bool) -> str | None:
    try:
        if closing:
            produced.close()
            return None
        value = produced.throw(RunCancelled("the run was cancelled"))
    except RuntimeError as error:
        return str(error) if "ignored GeneratorExit" in str(error) else None
    except Exception:  # noqa: BLE001 - it stopped, whatever it says
        return None
    return f"it yielded {value!r} after RunCancelled was raised at its yield"


async def _stop_async(
    produced: AsyncGenerator[Any, None], session: Session, count: int, *, closing: bool
) -> tuple[int, str | None]:
    taken = 0
    with contextlib.suppress(Exception):
        async for _ in produced:
            taken += 1
            if taken == count:
                break
    session.cancel()
    return taken, await _told_async(produced, closing=closing)


async def _told_async(produced: AsyncGenerator[Any, None], *, closing: bool) -> str | None:
    try:
        if closing:
            await produced.aclose()
            return None
        value = await produced.athrow(asyncio.CancelledError())
    except RuntimeError as error:
        return str(error) if "ignored GeneratorExit" in str(error) else None
    except (Exception, asyncio.CancelledError):  # noqa: BLE001 - it stopped, whatever it says
        return None
    return f"it yielded {value!r} after CancelledError was raised at its yield"

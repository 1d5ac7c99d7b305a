"""Strategies on trial that are stopped or fail, in both forms; they note in `EVENTS` how they ended."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from enfilade_sdk.errors import ModelFailedError, QuotaExceededError, RunCancelled
from enfilade_sdk.session import Session
from tests.support.trial_strategies import EVENTS, Trial


class Wait(Trial):
    """Waits for ever: in a model call, a tool call, the storage, or asleep; notes how it was stopped."""

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[str]:
        yield "begun"
        try:
            await self._wait(params["where"], session)
        except BaseException as error:
            EVENTS.append(type(error).__name__)
            raise
        finally:
            await asyncio.sleep(0.01)  # a clean-up that waits is not cut short
            EVENTS.append("finally")

    async def _wait(self, where: str, session: Session) -> None:
        if where == "model":
            await session.model.invoke([])
        elif where == "tool":
            await session.tools.invoke("hang", {})
        elif where == "storage":
            await session.storage.get("hang")
        else:
            await asyncio.sleep(60)


class WaitBlocking(Trial):
    def invoke(self, *, params: dict[str, Any], session: Session) -> Iterator[str]:
        yield "begun"
        try:
            self._wait(params["where"], session)
        except BaseException as error:
            EVENTS.append(type(error).__name__)
            raise
        finally:
            EVENTS.append("finally")

    def _wait(self, where: str, session: Session) -> None:
        if where == "model":
            session.model.invoke([]).result()
        elif where == "tool":
            session.tools.invoke("hang", {}).result()
        elif where == "storage":
            session.storage.get("hang").wait()
        while not session.cancelled:
            time.sleep(0.005)
        raise RunCancelled("it was told")


class Tick(Trial):
    """Yields every few milliseconds without end; notes how it was stopped."""

    async def invoke(self) -> AsyncIterator[str]:
        try:
            while True:
                yield "tick"
                await asyncio.sleep(0.005)
        except BaseException as error:
            EVENTS.append(type(error).__name__)
            raise
        finally:
            EVENTS.append("finally")


class TickBlocking(Trial):
    def invoke(self) -> Iterator[str]:
        try:
            while True:
                yield "tick"
                time.sleep(0.005)
        except BaseException as error:
            EVENTS.append(type(error).__name__)
            raise
        finally:
            EVENTS.append("finally")


class Stubborn(Trial):
    """Goes on after it was told to stop, once."""

    def invoke(self) -> Iterator[str]:
        try:
            while True:
                yield "tick"
                time.sleep(0.005)
        except RunCancelled:
            EVENTS.append("told")
            yield "one more"
            EVENTS.append("never")
        finally:
            EVENTS.append("finally")


class Sleep(Trial):
    """Sleeps in a way that nothing interrupts."""

    def invoke(self, *, params: dict[str, Any]) -> Iterator[str]:
        yield "begun"
        time.sleep(params["seconds"])
        if params.get("noted"):
            EVENTS.append("woke")


class Deaf(Trial):
    """An async strategy that swallows its cancellation."""

    async def invoke(self, *, params: dict[str, Any]) -> AsyncIterator[str]:
        yield "begun"
        end = time.monotonic() + params["seconds"]
        while time.monotonic() < end:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                EVENTS.append("ignored")
        EVENTS.append("ended")


class Fail(Trial):
    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[Any]:
        session.log("before the fault")
        yield "begun"
        session.log("just before the fault")
        yield await fault(params["how"])


class FailBlocking(Trial):
    def invoke(self, *, params: dict[str, Any], session: Session) -> Iterator[Any]:
        session.log("before the fault")
        yield "begun"
        session.log("just before the fault")
        yield asyncio.run(fault(params["how"]))


async def fault(how: str) -> Any:
    if how == "quota":
        raise QuotaExceededError("no tokens left", details={"used": 7})
    if how == "model":
        raise ModelFailedError("the provider said no", details={"status": 503, "retryable": True})
    if how == "value":
        raise ValueError("a bad value")
    if how == "exit":
        sys.exit(3)
    if how == "cancelled":
        raise asyncio.CancelledError
    if how == "huge":
        raise QuotaExceededError("x" * 3_000_000, details={"more": "y" * 3_000_000})
    if how == "odd details":
        raise QuotaExceededError("odd", details={"object": object(), "text": "\ud800"})
    if how == "surrogate":
        raise ValueError("bad \ud83d text")
    return {"number": 7} if how == "not a message" else 7

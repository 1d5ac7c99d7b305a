"""Strategies on trial that call models, tools and the storage, in both forms."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from enfilade_sdk.errors import EnfiladeError, RunCancelled
from enfilade_sdk.session import Session
from tests.support.trial_strategies import EVENTS, Trial


class Ask(Trial):
    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[Any]:
        call = session.model.invoke([{"role": "user", "content": params.get("query", "?")}], model=params.get("model"))
        async for chunk in call:
            yield chunk.text or chunk.reasoning or repr(chunk.tool_calls)
        result = await call
        yield {"type": "json", "message": {"json_object": told(result)}}


class AskBlocking(Trial):
    def invoke(self, *, params: dict[str, Any], session: Session) -> Iterator[Any]:
        call = session.model.invoke([{"role": "user", "content": params.get("query", "?")}], model=params.get("model"))
        for chunk in call:
            yield chunk.text or chunk.reasoning or repr(chunk.tool_calls)
        yield {"type": "json", "message": {"json_object": told(call.result())}}


def told(result: Any) -> dict[str, Any]:
    return {
        "message": result.message.model_dump(),
        "finish_reason": result.finish_reason,
        "usage": result.usage.model_dump(),
    }


class UseTool(Trial):
    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[Any]:
        call = session.tools.invoke(params["tool"], params.get("arguments", {}), call_id="c1")
        async for message in call:
            yield message
        result = await call
        yield {"type": "json", "message": {"json_object": {"text": result.text, "is_error": result.is_error}}}


class UseToolBlocking(Trial):
    def invoke(self, *, params: dict[str, Any], session: Session) -> Iterator[Any]:
        call = session.tools.invoke(params["tool"], params.get("arguments", {}), call_id="c1")
        yield from call
        result = call.result()
        yield {"type": "json", "message": {"json_object": {"text": result.text, "is_error": result.is_error}}}


class Refused(Trial):
    """Tells what comes of calls that were not granted, and goes on."""

    async def invoke(self, *, session: Session) -> AsyncIterator[str]:
        result = await session.tools.invoke("forbidden", {})
        yield f"{result.is_error} {result.text}"
        try:
            await session.model.invoke([], model="forbidden")
        except EnfiladeError as error:
            yield f"{type(error).__name__}: {error}"
        yield "went on"


class Store(Trial):
    async def invoke(self, *, session: Session) -> AsyncIterator[str]:
        yield repr(await session.storage.get("k"))
        await session.storage.set("k", {"a": [1, None, "ü"]})
        yield repr(await session.storage.get("k"))
        await session.storage.delete("k")
        yield repr(await session.storage.get("k"))


class StoreBlocking(Trial):
    def invoke(self, *, session: Session) -> Iterator[str]:
        yield repr(session.storage.get("k").wait())
        session.storage.set("k", {"a": [1, None, "ü"]}).wait()
        yield repr(session.storage.get("k").wait())
        session.storage.delete("k").wait()
        yield repr(session.storage.get("k").wait())


class AtOnce(Trial):
    """Calls that wait for each other: they end only when all are open at once."""

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[str]:
        calls = [session.tools.invoke("meet", {"n": number}) for number in range(params["n"])]
        for result in await asyncio.gather(*calls):
            yield result.text


class AtOnceBlocking(Trial):
    """Several calls in turns: each is begun before the first is read to its end."""

    def invoke(self, *, params: dict[str, Any], session: Session) -> Iterator[str]:
        calls = [session.model.invoke([{"role": "user", "content": str(number)}]) for number in range(params["n"])]
        for call in calls:
            yield next(iter(call)).text
        for call in reversed(calls):
            yield call.result().message.content or ""


class GiveUp(Trial):
    async def invoke(self, *, session: Session) -> AsyncIterator[str]:
        call = session.model.invoke([])
        async for chunk in call:
            yield chunk.text
            break
        await call.aclose()
        try:
            await call
        except RunCancelled:
            yield "given up"
        yield (await session.tools.invoke("tool", {})).text


class GiveUpBlocking(Trial):
    def invoke(self, *, session: Session) -> Iterator[str]:
        call = session.model.invoke([])
        for chunk in call:
            yield chunk.text
            break
        call.cancel()
        try:
            call.result()
        except RunCancelled:
            yield "given up"
        yield session.tools.invoke("tool", {}).result().text


class GiveUpElsewhere(Trial):
    """One task waits for a call that another gives up."""

    async def invoke(self, *, session: Session) -> AsyncIterator[str]:
        call = session.model.invoke([])
        asyncio.get_running_loop().call_later(0.05, call.cancel)
        try:
            await call
        except RunCancelled as error:
            yield f"RunCancelled: {error}"
        yield (await session.tools.invoke("tool", {})).text


class Unread(Trial):
    """Leaves a stream unread and calls a tool meanwhile."""

    async def invoke(self, *, session: Session) -> AsyncIterator[str]:
        call = session.model.invoke([])
        first = await anext(call)
        yield first.text
        yield (await session.tools.invoke("tool", {})).text
        count = 1
        async for _ in call:
            count += 1
        yield str(count)


class UnreadBlocking(Trial):
    def invoke(self, *, session: Session) -> Iterator[str]:
        call = session.model.invoke([])
        yield next(iter(call)).text
        yield session.tools.invoke("tool", {}).result().text
        yield str(1 + sum(1 for _ in call))


class Abandon(Trial):
    """Ends while a task of its own still waits for a call."""

    async def invoke(self, *, session: Session) -> AsyncIterator[str]:
        begun = asyncio.Event()
        task = asyncio.ensure_future(_drain(session.model.invoke([]), begun))
        task.add_done_callback(lambda done: EVENTS.append(type(done.exception()).__name__))
        await begun.wait()
        yield "begun"


async def _drain(call: Any, begun: asyncio.Event) -> None:
    async for _ in call:
        begun.set()

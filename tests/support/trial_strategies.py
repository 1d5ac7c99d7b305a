"""Strategies on trial: what a run can do, in both forms, for a host's own process and for a plugin's process alike.

Imported by name from this folder (`trial_strategies:NAME`), so it knows nothing of the other test parts. What a
strategy met while it was stopped stands in `EVENTS` of the process it ran in; `Recall` tells it and forgets it.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from enfilade_sdk.errors import EnfiladeError, ModelFailedError, QuotaExceededError, RunCancelled
from enfilade_sdk.session import Session

EVENTS: list[str] = []

KINDS: list[dict[str, Any]] = [
    {"type": "text", "message": {"text": "größer \N{SNOWMAN} 😀"}, "meta": {"round": 1}},
    {"type": "link", "message": {"text": "https://localhost/a"}},
    {"type": "image", "message": {"text": "https://localhost/b.png"}},
    {"type": "image_link", "message": {"text": "https://localhost/c.png"}},
    {"type": "binary_link", "message": {"text": "https://localhost/d.bin"}},
    {"type": "blob", "message": {"blob": bytes(range(256))}, "meta": {"mime_type": "application/octet-stream"}},
    {"type": "blob_chunk", "message": {"id": "x", "sequence": 0, "total_length": 3, "blob": b"abc", "end": True}},
    {"type": "json", "message": {"json_object": {"deep": [1, 2.5, None, {"a": "b"}]}}},
    {"type": "variable", "message": {"variable_name": "answer", "variable_value": [42], "stream": False}},
    {"type": "file", "message": {}, "meta": {"file": {"url": "https://localhost/e.txt"}}},
    {"type": "log", "message": {"id": "1", "label": "step", "status": "start", "data": {"n": 1}}},
    {"type": "retriever_resources", "message": {"retriever_resources": [{"title": "t"}], "context": "c"}},
]


class Trial:
    """A strategy without parameters of its own: it is given whatever the test likes."""

    def get_parameters(self) -> list[Any]:
        return []


class Recall(Trial):
    async def invoke(self) -> AsyncIterator[str]:
        events = list(EVENTS)
        EVENTS.clear()
        for event in events:
            yield event


class Kinds(Trial):
    async def invoke(self) -> AsyncIterator[dict[str, Any]]:
        for message in KINDS:
            yield message


class KindsBlocking(Trial):
    def invoke(self) -> Iterator[dict[str, Any]]:
        yield from KINDS


class Flood(Trial):
    async def invoke(self, *, params: dict[str, Any]) -> AsyncIterator[str]:
        for number in range(params["n"]):
            EVENTS[:] = [str(number)]
            yield f"{number}{params.get('tail', '')}"


class FloodBlocking(Trial):
    def invoke(self, *, params: dict[str, Any]) -> Iterator[str]:
        for number in range(params["n"]):
            EVENTS[:] = [str(number)]
            yield f"{number}{params.get('tail', '')}"


class Given(Trial):
    """Tells everything it was given."""

    def invoke(self, **given: Any) -> Iterator[Any]:
        session: Session = given.pop("session")
        credentials = given.pop("credentials")
        yield {
            "type": "json",
            "message": {
                "json_object": {
                    **given,
                    "credentials": credentials and credentials.model_dump(),
                    "model": session.model.info.model_dump(),
                    "tools": [tool.model_dump() for tool in session.tools.list()],
                    "history": [message.model_dump() for message in session.history],
                    "files": [file.model_dump() for file in session.files],
                }
            },
        }


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


class Surrogates(Trial):
    def invoke(self, *, session: Session) -> Iterator[Any]:
        yield "a\ud83d b"
        yield {"type": "text", "message": {"text": "c"}, "meta": {"name": "\udcff"}}
        yield {"type": "json", "message": {"json_object": {"k\ud83d": ["\ude00"]}}}
        result = session.tools.invoke("echo", {"word": "\ud83d"}).result()
        yield result.text


class Large(Trial):
    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[Any]:
        kind, size = params["kind"], params["size"]
        if kind == "text":
            yield "x" * size
        elif kind == "json":
            yield {"type": "json", "message": {"json_object": {"x": "y" * size}}}
        elif kind == "blob":
            yield {"type": "blob", "message": {"blob": bytes(size)}, "meta": {"filename": "f", "mime_type": "m"}}
        elif kind == "prompt":
            result = await session.model.invoke([{"role": "user", "content": "z" * size}])
            yield str(len(result.message.content or ""))
        elif kind == "arguments":
            yield (await session.tools.invoke("echo", {"word": "w" * size})).text
        elif kind == "question":
            yield str(len(params["query"]))


class LargeBlobs(Trial):
    """Many blobs without a pause, to see that they do not pile up."""

    def invoke(self, *, params: dict[str, Any]) -> Iterator[Any]:
        for number in range(params["n"]):
            EVENTS[:] = [str(number)]
            yield {"type": "blob", "message": {"blob": bytes(1_000_000)}, "meta": {"number": number}}


class Changing(Trial):
    """Changes what it has sent and what it was given."""

    def invoke(self, *, params: dict[str, Any]) -> Iterator[Any]:
        data = {"state": "sent"}
        yield {"type": "json", "message": {"json_object": data}}
        data["state"] = "changed"
        params["given"].append("changed")


class FewKeywords(Trial):
    def invoke(self, user_id: str) -> Iterator[str]:
        yield user_id


class Returned(Trial):
    """A plain function that returns an async iterator."""

    def invoke(self, *, session: Session) -> AsyncIterator[Any]:
        return Ask().invoke(params={}, session=session)


class Listed(Trial):
    """A plain function that returns a list."""

    def invoke(self) -> list[str]:
        return ["a", "b"]


class NotIterable(Trial):
    def invoke(self) -> Any:
        return "just a text"

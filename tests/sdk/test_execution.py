"""Runs of strategies on a bare loop: threads end, contexts follow, a second cancel lets go."""

import asyncio
import contextvars
import functools
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from enfilade_sdk.errors import InternalError, LimitExceededError, RunCancelled
from enfilade_sdk.execution import accepted_arguments, execute
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import LogPayload
from enfilade_sdk.session import LOG_LIMIT, Session
from enfilade_sdk.testing.scripted_hatch import ScriptedHatch
from enfilade_sdk.testing.scripted_model import ScriptedModel
from enfilade_sdk.testing.scripted_tools import ScriptedTools

INVOCATION = Invocation("s", {"query": "q"}, run_id="42", user_id="u")
NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name")


def hatch() -> ScriptedHatch:
    return ScriptedHatch(ScriptedModel("answer"), ScriptedTools({}))


async def texts(strategy: Any) -> list[str]:
    return [getattr(m.message, "text", "") async for m in execute(strategy, INVOCATION, hatch())]


async def test_a_generator_runs_in_a_thread_of_its_own_with_the_callers_context() -> None:
    class Strategy:
        def invoke(self) -> Iterator[str]:
            yield threading.current_thread().name
            yield NAME.get()

    NAME.set("here")
    assert await texts(Strategy()) == ["run-42", "here"]
    for thread in threading.enumerate():
        if thread.name == "run-42":
            thread.join(1)  # it is on its last lines
            assert not thread.is_alive()


async def test_an_async_generator_runs_on_the_loop() -> None:
    class Strategy:
        async def invoke(self) -> AsyncIterator[str]:
            yield threading.current_thread().name

    assert await texts(Strategy()) == [threading.current_thread().name]


async def test_a_strategy_is_given_the_keywords_it_accepts() -> None:
    session = Session(INVOCATION, hatch(), asyncio.get_running_loop())

    def few(params: Any, *, session: Any = None, other: int = 3) -> None:
        """Takes two of them."""

    def all_of_them(**keywords: Any) -> None:
        """Takes all."""

    def none() -> None:
        """Takes none."""

    @functools.wraps(few)
    def wrapped(*positional: Any, **keywords: Any) -> None:
        """Takes what it wraps."""

    class Called:
        def __call__(self, *, user_id: str) -> None:
            """Takes one."""

    assert accepted_arguments(few, INVOCATION, session) == {"params": {"query": "q"}, "session": session}
    assert set(accepted_arguments(all_of_them, INVOCATION, session)) == {
        "params", "user_id", "conversation_id", "app_id", "message_id", "credentials", "session",
    }  # fmt: skip
    assert accepted_arguments(none, INVOCATION, session) == {}
    assert set(accepted_arguments(wrapped, INVOCATION, session)) == {"params", "session"}
    assert accepted_arguments(Called(), INVOCATION, session) == {"user_id": "u"}
    assert accepted_arguments(functools.partial(few, session=None), INVOCATION, session)["params"] == {"query": "q"}


async def test_logs_leave_before_the_next_message_and_at_the_end() -> None:
    class Strategy:
        def invoke(self, *, session: Session) -> Iterator[str]:
            session.log("one")
            yield "text"
            session.log("two")

    got = [m.message async for m in execute(Strategy(), INVOCATION, hatch())]
    assert [m.label if isinstance(m, LogPayload) else "text" for m in got] == ["one", "text", "two"]


async def test_logs_do_not_pile_up_without_end() -> None:
    class Strategy:
        async def invoke(self, *, session: Session) -> AsyncIterator[str]:
            for number in range(LOG_LIMIT + 1):
                session.log(str(number))
            yield "never"

    with pytest.raises(LimitExceededError, match="more than 1000 logs wait; yield a message between them"):
        await texts(Strategy())


async def test_a_call_after_the_run_was_cancelled_is_refused() -> None:
    refused: list[type[BaseException]] = []

    class Strategy:
        def invoke(self, *, session: Session) -> Iterator[str]:
            try:
                while True:
                    yield "tick"
            finally:
                for call in (
                    lambda: session.model.invoke([]),
                    lambda: session.tools.invoke("t", {}),
                    lambda: session.storage.get("k").wait(),
                ):
                    try:
                        call()
                    except RunCancelled as error:
                        refused.append(type(error))

    async with aclosing(execute(Strategy(), INVOCATION, hatch())) as run:
        await anext(run)
    assert refused == [RunCancelled] * 3


async def test_a_thread_that_does_not_end_is_let_go_by_a_second_cancel() -> None:
    release = threading.Event()

    class Strategy:
        def invoke(self) -> Iterator[str]:
            yield "begun"
            release.wait(10)

    async def read() -> None:
        async for _ in execute(Strategy(), INVOCATION, hatch()):
            pass

    task = asyncio.ensure_future(read())
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.sleep(0.05)
    assert not task.done()  # it waits for the thread
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 1)
    release.set()


async def test_an_error_in_the_clean_up_of_a_closed_run_is_not_swallowed() -> None:
    class Strategy:
        async def invoke(self) -> AsyncIterator[str]:
            try:
                yield "begun"
            finally:
                raise ValueError("in the clean-up")

    run = execute(Strategy(), INVOCATION, hatch())
    await anext(run)
    with pytest.raises(ValueError, match="in the clean-up"):
        await run.aclose()


async def test_an_async_strategy_that_ignores_its_close_is_told_of() -> None:
    class Strategy:
        async def invoke(self) -> AsyncIterator[str]:
            try:
                yield "begun"
            except GeneratorExit:
                yield "again"

    run = execute(Strategy(), INVOCATION, hatch())
    await anext(run)
    with pytest.raises((RuntimeError, InternalError), match="ignored GeneratorExit"):
        await run.aclose()


async def test_many_runs_share_the_loop() -> None:
    class Strategy:
        def invoke(self) -> Iterator[str]:
            time.sleep(0.05)
            yield "done"

    began = time.monotonic()
    assert await asyncio.gather(*(texts(Strategy()) for _ in range(40))) == [["done"]] * 40
    assert time.monotonic() - began < 1.9  # one after another they would take two seconds

"""Drives one run of a strategy, generator or async generator alike."""

import asyncio
import contextlib
import contextvars
import inspect
import threading
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from enfilade_sdk.errors import EnfiladeError, InternalError, RunCancelled
from enfilade_sdk.handoff import Handoff, HandoffClosed, weight
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage, message_of
from enfilade_sdk.session import Session

_Outcome = ToolInvokeMessage | BaseException


async def execute(strategy: Any, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
    """Runs a strategy and gives its messages.

    An async generator runs on the loop; a plain generator in a thread of its own, so that it blocks nothing.
    Closing this generator cancels the run: an async strategy meets `CancelledError` where it waits or `GeneratorExit`
    at its yield, a plain one meets `RunCancelled` at its next yield or session call; either has ended when the close
    returns. A thread that does not end is waited for until the waiting task is cancelled once more.

    Raises:
        EnfiladeError: What the strategy raised of that kind.
        InternalError: The strategy raised anything else, or yields what is no message.
    """
    session = Session(invocation, hatch, asyncio.get_running_loop())
    arguments = accepted_arguments(strategy.invoke, invocation, session)
    if inspect.isasyncgenfunction(strategy.invoke):
        messages = _on_loop(strategy.invoke(**arguments), session)
    else:
        messages = _in_thread(strategy.invoke, arguments, session)
    try:
        async for message in messages:
            yield message
    except EnfiladeError:
        raise
    except Exception as error:
        raise failure_of(error) from error
    finally:
        session.cancel()
        try:
            await messages.aclose()
        finally:
            await session.close()


def failure_of(error: Exception) -> InternalError:
    """An error for a strategy's own exception; its traceback is in `details`, for the log only."""
    lines = traceback.format_exception(error)
    return InternalError(
        f"the strategy failed with {type(error).__name__}: {error}", details={"traceback": "".join(lines)[-16_000:]}
    )


def accepted_arguments(invoke: Callable[..., Any], invocation: Invocation, session: Session) -> dict[str, Any]:
    """The keywords of the contract that an `invoke` accepts, with their values."""
    offered = {
        "params": invocation.params,
        "user_id": invocation.user_id,
        "conversation_id": invocation.conversation_id,
        "app_id": invocation.app_id,
        "message_id": invocation.message_id,
        "credentials": invocation.credentials,
        "session": session,
    }
    names = _keywords(invoke)
    return offered if names is None else {name: offered[name] for name in names if name in offered}


def _keywords(invoke: Callable[..., Any]) -> Sequence[str] | None:
    """The names that a function takes; None for one that takes all."""
    function = getattr(invoke, "__func__", invoke)
    if type(function) is FunctionType and not function.__dict__:  # plain, so its code says it, in a tenth of the time
        code = function.__code__
        takes_all = code.co_flags & inspect.CO_VARKEYWORDS
        return None if takes_all else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    parameters = inspect.signature(invoke).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters]


async def _on_loop(produced: AsyncIterator[Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
    try:
        async for value in produced:
            for log in session.take_logs():
                yield log
            yield value if type(value) is ToolInvokeMessage else message_of(value)
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if _is_ours(error):
            raise
        for log in session.take_logs():
            yield log
        own = _own(error)
        if own is error:
            raise
        raise own from error
    finally:
        close = getattr(produced, "aclose", None)
        if close is not None:
            await close()
    for log in session.take_logs():
        yield log


def _is_ours(error: BaseException) -> bool:
    """Whether it is the run's own cancellation, not one that the strategy made itself (of a task it waited for)."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


async def _in_thread(
    invoke: Callable[..., Any], arguments: dict[str, Any], session: Session
) -> AsyncGenerator[ToolInvokeMessage, None]:
    worker = _Worker(invoke, arguments, session)
    worker.start()
    try:
        while batch := await worker.line.take_async():
            for value in batch:
                if isinstance(value, BaseException):
                    raise _own(value)
                yield value
        if worker.returned is not None:
            async for message in _on_loop(worker.returned, session):
                yield message
    except BaseException:
        worker.line.close()
        session.cancel()
        await worker.ended.wait()
        raise


class _Worker:
    """The thread in which a plain `invoke` runs.

    Attributes:
        line: What it yields and, last, what it raises; closed when it has ended.
        ended: Set when the thread is done with the strategy's code.
        returned: The async iterator that it returned instead of yielding.
    """

    def __init__(self, invoke: Callable[..., Any], arguments: dict[str, Any], session: Session) -> None:
        self._invoke, self._arguments, self._session = invoke, arguments, session
        self._loop = asyncio.get_running_loop()
        self.line: Handoff[_Outcome] = Handoff(self._loop)
        self.ended = asyncio.Event()
        self.returned: AsyncIterator[Any] | None = None

    def start(self) -> None:
        work = contextvars.copy_context().run
        name = f"run-{self._session.invocation.run_id}"
        threading.Thread(target=work, args=(self._work,), name=name, daemon=True).start()

    def _work(self) -> None:
        try:
            produced = self._invoke(**self._arguments)
            if hasattr(produced, "__aiter__"):
                self.returned = produced
            else:
                _feed(self.line, _iterator(produced), self._session)
        except HandoffClosed:
            pass
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller, whatever it is
            with contextlib.suppress(HandoffClosed):
                _put_logs(self.line, self._session)
                self.line.put(error)
        finally:
            self.line.close()
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self.ended.set)


def _feed(line: Handoff[_Outcome], produced: Iterator[Any], session: Session) -> None:
    try:
        for value in produced:
            _put_logs(line, session)
            message = message_of(value)
            line.put(message, weight(message))
            if session.cancelled:
                raise HandoffClosed
    except HandoffClosed:
        _throw_cancelled(produced)
        raise
    finally:
        close = getattr(produced, "close", None)
        if close is not None:
            close()
    _put_logs(line, session)


def _put_logs(line: Handoff[_Outcome], session: Session) -> None:
    for log in session.take_logs():
        line.put(log)


def _throw_cancelled(produced: Iterator[Any]) -> None:
    throw = getattr(produced, "throw", None)
    if throw is not None:
        with contextlib.suppress(StopIteration, RunCancelled):
            throw(RunCancelled("the run was cancelled"))


def _iterator(produced: Any) -> Iterator[Any]:
    if isinstance(produced, str | bytes | dict) or not hasattr(produced, "__iter__"):
        raise InternalError(
            f"invoke returned a {type(produced).__name__}; expected a generator (use 'yield' in it instead of 'return')"
        )
    return iter(produced)


def _own(error: BaseException) -> BaseException:
    """An exception that can leave the run: those that mean something to Python itself are wrapped."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration | StopAsyncIteration):
        return error
    return InternalError(f"the strategy raised {type(error).__name__}: {error}")

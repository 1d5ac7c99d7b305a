"""One call of a tool under way: in a task of its own, never far ahead of its reader, and stopped for certain."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from time import monotonic
from types import TracebackType
from typing import Self

from enfilade_sdk.messages import ToolInvokeMessage

_AHEAD = 4
"""Messages a tool may be ahead of its reader."""


class CallTimeoutError(Exception):
    """The tool's time is used up."""


class Ended:
    """The end of a call, with what it raised."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Strays:
    """Calls that were told to stop and did not, until they do."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], str] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def names(self) -> str:
        """The tools they are of, with their number."""
        return ", ".join(f"{name} ({number})" for name, number in Counter(self._tasks.values()).most_common(5))

    def add(self, task: asyncio.Task[None], name: str) -> None:
        """Keeps the task in mind, and alive, until it ends; the loop may be closed without it."""
        if task.done():
            self._forget(task)
            return
        self._tasks[task] = name
        task.add_done_callback(self._forget)
        # asyncio.run waits for every task it knows, for ever if need be
        asyncio.tasks._unregister_task(task)  # noqa: SLF001 - of "Extending asyncio", for those who keep tasks
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - as asyncio.gather does

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled():
            task.exception()  # seen, so that it is not reported as never retrieved


class RunningCall:
    """Runs a tool's messages in one task, from the first to the last, and hands them over.

    The time limit counts only while the reader waits for the tool, so that a slow reader costs the tool nothing.

    Args:
        name: The tool's name.
        messages: What its `invoke` gave.
        timeout: Seconds it may take.
        grace: Seconds it has to stop when it is told to.
        strays: Where it goes when it does not.
    """

    def __init__(
        self, name: str, messages: AsyncIterator[ToolInvokeMessage], *, timeout: float, grace: float, strays: Strays
    ) -> None:
        self._name = name
        self._messages = messages
        self._left = timeout
        self._grace = grace
        self._strays = strays
        self._stopping = False
        self._last_error: BaseException | None = None
        self._line: asyncio.Queue[ToolInvokeMessage | Ended] = asyncio.Queue(maxsize=_AHEAD)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name=f"tool {self._name}")
        self._task.add_done_callback(self._note_end)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        try:
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait({self._task}, timeout=self._grace)
        finally:
            self._strays.add(self._task, self._name)  # forgotten at once where it has ended

    async def next(self) -> ToolInvokeMessage | Ended:
        """The next message, or the end.

        Raises:
            CallTimeoutError: The tool did not give it in its time.
        """
        if self._task.done() and self._line.empty():
            return Ended(self._last_error)
        started = monotonic()
        try:
            async with asyncio.timeout(max(0.0, self._left)):
                return await self._line.get()
        except TimeoutError:
            raise CallTimeoutError from None
        finally:
            self._left -= monotonic() - started

    def _note_end(self, task: asyncio.Task[None]) -> None:
        """Wakes the reader where the task could not say itself that it ends."""
        self._last_error = None if task.cancelled() else task.exception()
        if self._line.empty():
            self._line.put_nowait(Ended(self._last_error))

    async def _run(self) -> None:
        error: BaseException | None = None
        close = getattr(self._messages, "aclose", None)
        try:
            async for message in self._messages:
                await self._line.put(message)
        except asyncio.CancelledError as cancelled:
            if self._stopping:
                raise
            error = cancelled  # the tool's own doing
        except GeneratorExit:
            close = None  # most likely the loop is gone, and nothing can be awaited any more
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # noqa: BLE001 - whatever a tool raises ends its call only, SystemExit too
            error = raised
        finally:
            if close is not None:
                try:
                    await close()
                except Exception as raised:  # noqa: BLE001 - a fault of its clean-up is a fault of the tool
                    error = error or raised
        await self._line.put(Ended(error))

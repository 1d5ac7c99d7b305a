"""One run as the caller holds it: its messages as they come, its outcome at the end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from enfilade.outcome import Outcome, Status
from enfilade.transform import Transform
from enfilade_sdk.errors import EnfiladeError, InternalError, RunCancelled
from enfilade_sdk.messages import ToolInvokeMessage


class Run:
    """Iterate it for its messages; `outcome` is there once the iteration has ended, however it ended.

    A run that fails gives its messages first and then raises. Leaving the iteration early needs `aclose`
    (or `contextlib.aclosing`), which cancels the run everywhere.

    Args:
        run_id: The run's id.
        messages: What it says.
        transform: Makes the outcome of it.
        ended: Told of the outcome once everything of the run has been let go.
    """

    def __init__(
        self,
        run_id: str,
        messages: AsyncGenerator[ToolInvokeMessage, None],
        transform: Transform,
        ended: Callable[[Outcome], Awaitable[None]],
    ) -> None:
        self.run_id = run_id
        self.outcome: Outcome | None = None
        self._transform = transform
        self._ended = ended
        self._stream = self._guarded(messages)

    def __aiter__(self) -> AsyncIterator[ToolInvokeMessage]:
        return self._stream

    async def aclose(self) -> None:
        """Cancels the run, unless it has ended."""
        await self._stream.aclose()
        if self.outcome is None:
            self.outcome = self._transform.end(Status.CANCELLED, RunCancelled("the run was given up before its start"))

    async def wait(self) -> Outcome:
        """Reads the run to its end and gives the outcome; a failure is in the outcome."""
        try:
            async for _ in self._stream:
                pass
        except EnfiladeError as error:
            if self.outcome is None:
                raise InternalError(f"a run ended without an outcome: {error.message}") from error
        if self.outcome is None:
            raise InternalError("a run is read once; this one was read already")
        return self.outcome

    async def _guarded(
        self, messages: AsyncGenerator[ToolInvokeMessage, None]
    ) -> AsyncGenerator[ToolInvokeMessage, None]:
        failure: EnfiladeError | None = None
        try:
            async for message in messages:
                self._transform.add(message)
                yield message
            self._transform.check_end()
        except EnfiladeError as error:
            failure = error
        except (asyncio.CancelledError, GeneratorExit):
            self._end("the run was cancelled", RunCancelled("the run was cancelled by its caller"))
            raise
        finally:
            try:
                await messages.aclose()
            finally:
                await self._tell()
        closed = self._end(failure.message if failure else "the run ended without closing this log", failure)
        await self._tell()
        for message in closed:
            yield message
        if failure is not None:
            raise failure

    def _end(self, reason: str, error: EnfiladeError | None) -> list[ToolInvokeMessage]:
        """Makes the outcome; gives the messages that close what is open."""
        closed = self._transform.close_logs(reason)
        status = Status.CANCELLED if isinstance(error, RunCancelled) else Status.FAILED
        self.outcome = self._transform.end(Status.SUCCEEDED if error is None else status, error)
        return closed

    async def _tell(self) -> None:
        if self.outcome is not None:
            await self._ended(self.outcome)

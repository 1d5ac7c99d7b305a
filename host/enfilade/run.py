"""One run as the caller holds it: its messages as they come, its outcome at the end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from enfilade.outcome import Outcome, Status
from enfilade.transform import Transform
from enfilade_sdk.errors import EnfiladeError, InternalError, RunCancelled
from enfilade_sdk.messages import ToolInvokeMessage


class Run:
    """Iterate it for its messages; `outcome` is there once the iteration has ended, however it ended.

    A run that fails gives its messages first and then raises. Leaving the iteration early needs `aclose`
    (or `contextlib.aclosing`), which cancels the run everywhere.
    """

    def __init__(self, run_id: str, messages: AsyncGenerator[ToolInvokeMessage, None], transform: Transform) -> None:
        self.run_id = run_id
        self.outcome: Outcome | None = None
        self._transform = transform
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
        try:
            async for message in messages:
                self._transform.add(message)
                yield message
            self._transform.check_end()
        except EnfiladeError as error:
            failure = error
        except (asyncio.CancelledError, GeneratorExit):
            self._transform.close_logs("the run was cancelled")
            self.outcome = self._transform.end(Status.CANCELLED, RunCancelled("the run was cancelled by its caller"))
            raise
        else:
            for message in self._transform.close_logs("the run ended without closing this log"):
                yield message
            self.outcome = self._transform.end(Status.SUCCEEDED)
            return
        finally:
            await messages.aclose()
        for message in self._transform.close_logs(failure.message):
            yield message
        status = Status.CANCELLED if isinstance(failure, RunCancelled) else Status.FAILED
        self.outcome = self._transform.end(status, failure)
        raise failure

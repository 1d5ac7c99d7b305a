"""One run as the caller holds it: its messages as they come, its outcome at the end."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from enfilade.outcome import Outcome, Status
from enfilade.transform import Transform
from enfilade_sdk.errors import EnfiladeError, InternalError, RunCancelled
from enfilade_sdk.messages import ToolInvokeMessage


class Run:
    """Iterate it for its messages; `outcome` is there once the iteration has ended, however it ended.

    A run that fails gives its messages first and then raises. Leaving the iteration early needs `aclose`
    (or `contextlib.aclosing`), which cancels the run everywhere. One that is left and dropped without it is cancelled
    soon after, and the end of its host cancels what is still held.

    Args:
        run_id: The run's id.
        messages: What it says.
        transform: Makes the outcome of it.
        ended: Told of the outcome once everything of the run has been let go.
        underway: Holds the streams of the runs that have begun and not ended. The garbage collector, which would close
            all the generators of a run at once, then finds the outermost only.
    """

    def __init__(
        self,
        run_id: str,
        messages: AsyncGenerator[ToolInvokeMessage, None],
        transform: Transform,
        ended: Callable[[Outcome], Awaitable[None]],
        underway: set[object],
    ) -> None:
        self.run_id = run_id
        self._ending = _Ending(transform, ended)
        self._stream = _guarded(messages, self._ending, underway)

    @property
    def outcome(self) -> Outcome | None:
        """What it came to; None until it has ended."""
        return self._ending.outcome

    def __aiter__(self) -> AsyncIterator[ToolInvokeMessage]:
        return self._stream

    async def aclose(self) -> None:
        """Cancels the run, unless it has ended."""
        await self._stream.aclose()
        self._ending.never_began()

    async def leave(self) -> None:
        """Cancels the run, unless it has ended or somebody is reading it."""
        with contextlib.suppress(RuntimeError):  # it is being read
            await self.aclose()

    async def wait(self) -> Outcome:
        """Reads the run to its end and gives the outcome; a failure is in the outcome.

        Raises:
            InternalError: The run was read before, by iterating it or by waiting.
        """
        try:
            async for _ in self._stream:
                pass
        except EnfiladeError as error:
            if self.outcome is None:
                raise InternalError(f"a run ended without an outcome: {error.message}") from error
        if self.outcome is None:
            raise InternalError("a run is read once; this one was read already")
        return self.outcome


class _Ending:
    """How a run ends. It knows nothing of the stream, so that a run that is dropped is let go of at once.

    Attributes:
        outcome: What the run came to.
    """

    def __init__(self, transform: Transform, ended: Callable[[Outcome], Awaitable[None]]) -> None:
        self.outcome: Outcome | None = None
        self.transform = transform
        self._ended = ended

    def end(self, reason: str, error: EnfiladeError | None) -> list[ToolInvokeMessage]:
        """Makes the outcome; gives the messages that close what is open."""
        closed = self.transform.close_logs(reason)
        status = Status.CANCELLED if isinstance(error, RunCancelled) else Status.FAILED
        self.outcome = self.transform.end(Status.SUCCEEDED if error is None else status, error)
        return closed

    def never_began(self) -> None:
        """Makes the outcome of a run that was closed before anybody read it."""
        if self.outcome is None:
            self.outcome = self.transform.end(Status.CANCELLED, RunCancelled("the run was given up before its start"))

    async def tell(self) -> None:
        """Tells of the outcome, if there is one."""
        if self.outcome is not None:
            await self._ended(self.outcome)


async def _guarded(
    messages: AsyncGenerator[ToolInvokeMessage, None], ending: _Ending, underway: set[object]
) -> AsyncGenerator[ToolInvokeMessage, None]:
    """The run's messages, and its end, whichever it is."""
    failure: EnfiladeError | None = None
    underway.add(messages)
    try:
        async for message in messages:
            ending.transform.add(message)
            yield message
        ending.transform.check_end()
    except EnfiladeError as error:
        failure = error
    except (asyncio.CancelledError, GeneratorExit):
        ending.end("the run was cancelled", RunCancelled("the run was cancelled by its caller"))
        raise
    finally:
        try:
            await messages.aclose()
        finally:
            underway.discard(messages)
            await ending.tell()
    closed = ending.end(failure.message if failure else "the run ended without closing this log", failure)
    await ending.tell()
    for message in closed:
        yield message
    if failure is not None:
        raise failure

"""Guards a run's messages, whoever sends them: how many, how large, until when, and closed once."""

import asyncio
from collections.abc import AsyncGenerator

from enfilade.config import Limits
from enfilade.layers.interruption import Interruption
from enfilade_sdk.errors import DeadlineExceededError, LimitExceededError
from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, TextPayload, ToolInvokeMessage


class GuardedStream:
    """Passes messages on while they stay within the limits; closes the source when they do not.

    Args:
        source: The run's messages.
        limits: How many, and how large.
        seconds: The run's time.
        interruption: What else may end the run.
    """

    def __init__(
        self,
        source: AsyncGenerator[ToolInvokeMessage, None],
        limits: Limits,
        seconds: float,
        interruption: Interruption | None = None,
    ) -> None:
        self._source = source
        self._limits = limits
        self._seconds = seconds
        self._interruption = interruption or Interruption()
        self._count = 0
        self._size = 0

    async def messages(self) -> AsyncGenerator[ToolInvokeMessage, None]:
        """The messages.

        Raises:
            LimitExceededError: There were too many, or they were too large together.
            DeadlineExceededError: The run's time is used up; a caller that does not read finds the run closed.
            EnfiladeError: The run was interrupted.
        """
        timer = asyncio.get_running_loop().call_later(self._seconds, self._expire)
        try:
            while (message := await self._interruption.next(self._source)) is not None:
                self._check(message)
                yield message
        finally:
            timer.cancel()
            await self._interruption.close(self._source)

    def _expire(self) -> None:
        self._interruption.interrupt(DeadlineExceededError(f"the run's time of {self._seconds:g} s is used up"))

    def _check(self, message: ToolInvokeMessage) -> None:
        self._count += 1
        self._size += size_of(message)
        if self._count > self._limits.messages:
            raise LimitExceededError(f"the run sent more than {self._limits.messages} messages")
        if self._size > self._limits.message_bytes:
            raise LimitExceededError(f"the run sent more than {self._limits.message_bytes} bytes of text and blobs")


def size_of(message: ToolInvokeMessage) -> int:
    """Bytes (characters, for text) that a message weighs against the limit."""
    payload = message.message
    if isinstance(payload, TextPayload):
        return len(payload.text)
    if isinstance(payload, BlobPayload | BlobChunkPayload):
        return len(payload.blob)
    return 0

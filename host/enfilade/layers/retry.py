"""Asks a model again when it failed in a way that may pass."""

import asyncio
import logging
import random
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, ModelStream, NextModelCall
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.prompts import ModelRequest

_log = logging.getLogger(__name__)


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, eq=False)
class Retry(Layer):
    """Makes a failed model call again, unless something of its answer went out already.

    Only failures that may pass are tried again (`details["retryable"]`). The wait after try n is between half and all
    of `base * 2 ** (n - 1)` seconds, at most `longest`; where the provider said how long to wait
    (`details["retry_after"]`, seconds), it is that and a little more. A run that would not live to see the next try
    fails at once.

    Attributes:
        attempts: How often a call is made at most.
        base: Seconds of the first wait.
        longest: Seconds of the longest wait. A provider that asks for more is not asked again.
    """

    attempts: Annotated[int, Field(ge=1, le=100)] = 4
    base: Annotated[float, Field(gt=0)] = 0.5
    longest: Annotated[float, Field(gt=0)] = 60.0

    name = "retry"

    async def model_call(self, context: RunContext, request: ModelRequest, call_next: NextModelCall) -> ModelStream:
        """Makes the call until it succeeds, or has begun to answer, or has been made often enough."""
        for attempt in range(1, self.attempts + 1):
            begun = False
            try:
                async for answer in call_next(request):
                    begun = True
                    yield answer
                return
            except EnfiladeError as error:
                wait = self.pause_after(attempt, error)
                if begun or wait is None or wait >= context.remaining:
                    raise
                words = "run %s: try %d of a model call failed, the next is in %.1f s: %s"
                _log.warning(words, context.run_id, attempt, wait, error)
            await asyncio.sleep(wait)

    def pause_after(self, attempt: int, error: EnfiladeError) -> float | None:
        """Seconds until the next try; None when there is none to be."""
        if not error.retryable or attempt >= self.attempts:
            return None
        jitter = random.random()  # noqa: S311 - no secret
        asked = error.details.get("retry_after")
        if isinstance(asked, int | float) and asked >= 0:
            return None if asked > self.longest else asked + jitter * min(self.base, 1.0)
        return float((0.5 + jitter / 2) * min(self.longest, self.base * 2 ** (attempt - 1)))

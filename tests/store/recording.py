"""Runs of real strategies against scripts, recorded in a store as the host's recording layer does it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from enfilade.outcome import Status
from enfilade.store.run_record import RunRecord
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from enfilade_sdk.errors import EnfiladeError, RunCancelled
from enfilade_sdk.execution import execute
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    PromptMessage,
    StorageRequest,
    SystemMessage,
    ToolRequest,
    ToolResult,
    prompts_of,
)
from enfilade_sdk.testing.outcome import StrategyRun
from enfilade_sdk.testing.run import Setup, setup_of


class RecordedHatch:
    """A hatch whose calls are recorded."""

    def __init__(self, inner: Hatch, record: RunRecord, model: str) -> None:
        self._inner = inner
        self._record = record
        self._model = model
        self.replies: list[AssistantMessage] = []

    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        entry = await self._record.model_began(request, model=self._model, provider="testing")
        said: list[str] = []
        try:
            async for answer in self._inner.model(request):
                if isinstance(answer, ModelResult):
                    entry.ended(answer)
                    self.replies.append(answer.message)
                else:
                    said.append(answer.text)
                yield answer
        except BaseException as error:
            entry.failed(error, text="".join(said))
            raise

    async def tool(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        entry = await self._record.tool_began(request)
        try:
            async for answer in self._inner.tool(request):
                if isinstance(answer, ToolResult):
                    entry.ended(answer)
                yield answer
        except BaseException as error:
            entry.failed(error)
            raise

    async def storage(self, request: StorageRequest) -> Any:
        return await self._inner.storage(request)


@dataclass(slots=True)
class RecordedRun:
    """What a recorded run looked like from outside."""

    id: str
    seen: StrategyRun
    replies: list[AssistantMessage]

    @property
    def live(self) -> list[PromptMessage]:
        """What the model had when the run ended: the last prompt without instruction and reasoning, and its reply."""
        prompt = [m for m in self.seen.requests[-1].messages if not isinstance(m, SystemMessage)]
        return [without_reasoning(message) for message in [*prompt, *self.replies[len(self.seen.requests) - 1 :]]]


def without_reasoning(message: PromptMessage) -> PromptMessage:
    return message.model_copy(update={"reasoning": None}) if isinstance(message, AssistantMessage) else message


async def recorded_run(
    store: Store, strategy: Any, query: str, *, user: str = "user", cancel_after: int | None = None, **setup: Any
) -> RecordedRun:
    """Runs a strategy against a script and records it; the conversation's earlier turns come from the store.

    Args:
        store: Where it is recorded.
        strategy: The strategy's class.
        query: The question.
        user: Who asks.
        cancel_after: After how many messages the caller leaves; None reads to the end.
        **setup: `model`, `tools`, `params`, `files`, `conversation_id`, `wired` as in `Setup`.
    """
    conversation = setup.get("conversation_id")
    if conversation is not None:
        setup["history"] = (await store.conversation(conversation, user_id=user)).messages
    made = setup_of(query, **setup)
    run_id = uuid4().hex
    history = tuple(prompts_of(made.history))
    start = RunStart(run_id, "scripted", query, user_id=user, conversation_id=conversation, history=history)
    record = await store.records.run_began(start)
    hatch = RecordedHatch(made.hatch(), record, made.model.info.name)
    seen = StrategyRun(requests=made.model.requests, calls=made.tools.calls)
    await _play(strategy(), made, hatch, record, seen, cancel_after)
    return RecordedRun(run_id, seen, hatch.replies)


async def _play(
    strategy: Any, setup: Setup, hatch: RecordedHatch, record: RunRecord, seen: StrategyRun, cancel_after: int | None
) -> None:
    invocation = setup.invocation(strategy)
    status = Status.SUCCEEDED
    try:
        async with aclosing(execute(strategy, invocation, hatch)) as messages:
            async for message in messages:
                await record.event(message)
                seen.messages.append(message)
                if len(seen.messages) == cancel_after:
                    status, seen.error = Status.CANCELLED, RunCancelled("the caller left")
                    break
    except EnfiladeError as error:
        status, seen.error = Status.FAILED, error
    record.ended(status, answer=seen.answer if seen.messages and seen.text else "", error=seen.error)

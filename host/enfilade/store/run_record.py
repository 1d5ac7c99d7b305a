"""The record of one run, written as it happens."""

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any

from enfilade.outcome import OutcomeFile, Status
from enfilade.store.batch import Row
from enfilade.store.clock import now
from enfilade.store.dialogue import Exchange, common, since_question
from enfilade.store.pen import Clock, Pen
from enfilade.store.round_record import CallRecord, RoundRecord
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.messages import MessageType, TextPayload, ToolInvokeMessage
from enfilade_sdk.prompts import PROMPTS, ModelRequest, PromptMessage, ToolRequest

LARGE = 1024 * 1024
"""From how many bytes on a digest is made in a thread."""

_UNANSWERED = dict.fromkeys(("text", "reasoning", "tool_calls", "finish_reason", "error_code", "error"))
_UNRETURNED = dict.fromkeys(("seconds", "provider", "result", "error_code", "error"))
_UNCOUNTED = dict.fromkeys(
    ("prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens", "cost_nano")
)

_RUNNING = State.RUNNING.value

_STATES = {Status.SUCCEEDED: State.SUCCEEDED, Status.FAILED: State.FAILED, Status.CANCELLED: State.CANCELLED}


class RunRecord:
    """One run. `Records.run_began` gives it; call it as things happen, and `ended` at the end.

    What begins something waits while the store is behind, and raises `StoreError` when the run is to fail with the
    store. What ends something never waits and never raises, so that it can stand in a `finally`.

    Args:
        pen: Writes the rows.
        start: What is known of the run.
        file_bytes: Up to which size the content of a file is kept.
    """

    def __init__(self, pen: Pen, start: RunStart, file_bytes: int) -> None:
        self.id = start.run_id
        self._pen = pen
        self._start = start
        self._file_bytes = file_bytes
        self._clock = Clock.start()
        self._open = True
        self._rounds: list[RoundRecord] = []
        self._calls: list[CallRecord] = []
        self._events = 0
        self._counts = {"rounds": 0, "calls": 0, "files": 0}
        self._exchange: Exchange | None = None
        self._owned: Row | None = None

    def began(self, host_id: str) -> None:
        """Writes down that it began (for `Records.run_began`)."""
        self._pen.note(self._write_began, host_id)

    def _write_began(self, host_id: str) -> None:
        start, pen = self._start, self._pen
        names = ("strategy", "plugin", "model", "provider", "user_id")
        ids = ("conversation_id", "app_id", "message_id")
        row: Row = {name: pen.text(getattr(start, name)) for name in names}
        row |= {name: None if (value := getattr(start, name)) is None else pen.text(value) for name in ids}
        row |= {"id": self.id, "host_id": host_id, "status": _RUNNING, "began_at": self._clock.began_at}
        row |= {"question": pen.text(start.question), "params": pen.json(dict(start.params))}
        row |= {"question_files": pen.json([_reference(file.model_dump()) for file in start.files])}
        row |= dict.fromkeys(("answer", "error_code", "error", "ended_at"))
        pen.insert("runs", row)

    async def model_began(self, request: ModelRequest, *, model: str = "", provider: str = "") -> RoundRecord:
        """Writes down that a model was asked.

        Args:
            request: The call.
            model: The model's name.
            provider: Who answers for it.

        Raises:
            StoreError: The run is to fail because the store cannot be written.
        """
        if not self._pen.is_ready:
            await self._pen.ready()
        position = self._next("rounds")
        entry = RoundRecord(self._pen, f"{self.id}-r{position}")
        self._rounds = [known for known in self._rounds if known.open or known is self._latest()] + [entry]
        self._pen.note(self._write_round, entry, position, request, {"model": model, "provider": provider})
        return entry

    def _write_round(self, entry: RoundRecord, position: int, request: ModelRequest, names: Mapping[str, str]) -> None:
        pen, at = self._pen, entry.began_at
        kept, added, entry.exchange = self._placed(request)
        whom: Row = {name: pen.text(value) for name, value in names.items()}
        row: Row = {"id": entry.id, "run_id": self.id, "position": position, "status": _RUNNING, **whom}
        row |= {"kept": kept, "added": added, "began_at": at, "seconds": None, **_UNANSWERED}
        pen.insert("rounds", row)
        pen.insert("usage", {"round_id": entry.id, "at": at, **self._owner(), **whom, **_UNCOUNTED})

    async def tool_began(self, request: ToolRequest) -> CallRecord:
        """Writes down that a tool was called; the call belongs to the round whose reply asked for it, or to the latest.

        Raises:
            StoreError: The run is to fail because the store cannot be written.
        """
        if not self._pen.is_ready:
            await self._pen.ready()
        asker = next((entry for entry in reversed(self._rounds) if request.call_id in entry.asked), self._latest())
        position = self._next("calls")
        entry = CallRecord(self._pen, f"{self.id}-c{position}", request.call_id, asker)
        self._calls = [known for known in self._calls if known.open] + [entry]
        self._pen.note(self._write_call, entry, position, request)
        return entry

    def _write_call(self, entry: CallRecord, position: int, request: ToolRequest) -> None:
        pen, asker = self._pen, entry.asker
        arguments = request.arguments if isinstance(request.arguments, str) else dict(request.arguments)
        row: Row = {"id": entry.id, "run_id": self.id, "round_id": asker.id if asker is not None else None}
        row |= {"position": position, "call_id": pen.text(request.call_id), "began_at": entry.began_at}
        row |= {"tool": pen.text(request.name), "status": _RUNNING, "arguments": pen.json(arguments)}
        pen.insert("calls", row | _UNRETURNED)

    async def event(self, message: ToolInvokeMessage) -> None:
        """Writes down a message of the run, in order; of a blob only its size, its content comes with `file`.

        Nobody may change the message afterwards: it is read when the batch is written.

        Raises:
            StoreError: The run is to fail because the store cannot be written.
        """
        pen = self._pen
        if not pen.is_ready:
            await pen.ready()
        self._events += 1
        payload, batch = message.message, pen.writer.batch
        said = payload.text if message.type is MessageType.TEXT and isinstance(payload, TextPayload) else None
        if said is not None and batch.say_more(self.id, said, message.meta):
            return
        if said is None:
            batch.hush(self.id)
            pen.note(self._write_event, self._events, message, now())
            return
        batch.say(self._event_row(self._events, message, now()), said, message.meta, pen.masking)
        pen.writer.added()

    def _write_event(self, sequence: int, message: ToolInvokeMessage, at: int) -> None:
        row = self._event_row(sequence, message, at)
        row["message"] = text = self._pen.message(message)
        self._pen.writer.batch.append("events", row, len(text))

    def _event_row(self, sequence: int, message: ToolInvokeMessage, at: int) -> Row:
        return {"run_id": self.id, "sequence": sequence, "count": 1, "type": message.type.value, "at": at}

    async def file(self, file: OutcomeFile) -> None:
        """Writes down a whole file, sent or linked; the content of a large one is not kept, its digest is.

        Raises:
            StoreError: The run is to fail because the store cannot be written.
        """
        if not self._pen.is_ready:
            await self._pen.ready()
        pen, data, position = self._pen, file.data, self._next("files")
        row: Row = {"id": f"{self.id}-f{position}", "run_id": self.id, "position": position, "at": now()}
        row |= {name: pen.text(getattr(file, name)) for name in ("type", "url", "filename", "mime_type")}
        row |= {"size": None if data is None else len(data), "meta": pen.json(file.meta)}
        row |= {"sha256": None if data is None else await _digest(data)}
        row |= {"data": data if data is not None and len(data) <= self._file_bytes else None}
        pen.note(pen.insert, "files", row)

    def ended(self, status: Status, *, answer: str = "", error: EnfiladeError | None = None) -> None:
        """Writes down how the run ended; rounds and calls that are still open end with it. Only the first end counts.

        Args:
            status: How it ended.
            answer: Its answer, or as much of it as there was.
            error: Why it failed.
        """
        if not self._open:
            return
        self._open = False
        given_up = State.FAILED if status is Status.FAILED else State.CANCELLED
        for model_call in self._rounds:
            model_call.abandoned(given_up)
        for tool_call in self._calls:
            tool_call.abandoned(given_up)
        self._pen.writer.batch.hush(self.id)
        row: Row = {"status": _STATES[status].value, "answer": self._pen.text(answer), "ended_at": now()}
        self._pen.note(self._pen.change, "runs", self.id, row | self._pen.error(error))

    async def settled(self) -> None:
        """Before a run is called a success: makes sure, where a run is to fail with the store, that all is written.

        Raises:
            StoreError: It could not be written.
        """
        if self._pen.strict:
            await self._pen.writer.flush()

    def _placed(self, request: ModelRequest) -> tuple[int | None, str | None, Exchange | None]:
        """Where a prompt stands in the run's dialogue: what it keeps, what it adds; nothing for one beside it."""
        start = self._start
        prompt = None if request.completion else since_question(request.messages, start.question, start.history)
        if prompt is None:
            return None, None, None
        left: list[PromptMessage] = [] if self._exchange is None else self._exchange.left()
        kept = common(left, prompt)
        self._exchange = Exchange(prompt)
        return kept, self._pen.json(PROMPTS.dump_python(prompt[kept:], mode="json")), self._exchange

    def _latest(self) -> RoundRecord | None:
        return self._rounds[-1] if self._rounds else None

    def _next(self, what: str) -> int:
        self._counts[what] += 1
        return self._counts[what]

    def _owner(self) -> Row:
        """Whose the run is, as it stands beside each count of tokens."""
        if self._owned is None:
            pen, start = self._pen, self._start
            conversation = None if start.conversation_id is None else pen.text(start.conversation_id)
            self._owned = {"run_id": self.id, "conversation_id": conversation}
            self._owned |= {"user_id": pen.text(start.user_id), "plugin": pen.text(start.plugin)}
        return self._owned


async def _digest(data: bytes) -> str:
    if len(data) < LARGE:
        return hashlib.sha256(data).hexdigest()
    return await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())


def _reference(file: dict[str, Any]) -> dict[str, Any]:
    """A question's file without its content, for a `data:` URL holds it whole."""
    url = str(file.get("url", ""))
    return {**file, "url": f"{url.partition(',')[0]},... ({len(url)} characters)"} if url.startswith("data:") else file

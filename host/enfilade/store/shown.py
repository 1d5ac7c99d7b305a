"""Records as they are shown: values with times and texts, each with its JSON form."""

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Self

from enfilade.ledger import cost_json
from enfilade.store.database import Record
from enfilade.store.state import State
from enfilade.store.text import loaded_json, loaded_text
from enfilade.store.usage import UsageSum
from enfilade_sdk.prompts import Usage

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_of(microseconds: int | None) -> datetime | None:
    """A kept time; None for none."""
    return None if microseconds is None else moment(microseconds)


def moment(microseconds: int) -> datetime:
    """A kept time."""
    return _EPOCH + timedelta(microseconds=microseconds)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in a list."""

    id: str
    status: State
    strategy: str
    plugin: str
    model: str
    provider: str
    user_id: str
    conversation_id: str | None
    question: str
    answer: str | None
    error_code: str | None
    error: str | None
    began_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, row: Record) -> Self:
        """The run of a row."""
        names = ("strategy", "plugin", "model", "provider", "user_id", "conversation_id", "question", "answer", "error")
        texts = {name: _text(row[name]) for name in names}
        plain: dict[str, Any] = {"id": row["id"], "status": State(row["status"]), "error_code": row["error_code"]}
        return cls(began_at=moment(row["began_at"]), ended_at=time_of(row["ended_at"]), **plain, **texts)

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it is going."""
        return None if self.ended_at is None else (self.ended_at - self.began_at).total_seconds()

    def to_json(self) -> dict[str, Any]:
        """Its JSON form; times in ISO 8601, UTC."""
        return _json(self) | {"seconds": self.seconds}


@dataclass(frozen=True, slots=True)
class CallShown:
    """One tool call."""

    id: str
    round_id: str | None
    call_id: str
    tool: str
    provider: str | None
    status: State
    arguments: Any
    result: str | None
    error_code: str | None
    error: str | None
    began_at: datetime
    seconds: float | None

    @classmethod
    def of(cls, row: Record) -> Self:
        """The call of a row."""
        texts = {name: _text(row[name]) for name in ("call_id", "tool", "provider", "result", "error_code", "error")}
        plain = {name: row[name] for name in ("id", "round_id", "seconds")}
        arguments = loaded_json(row["arguments"])
        return cls(status=State(row["status"]), arguments=arguments, began_at=moment(row["began_at"]), **texts, **plain)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        return _json(self)


@dataclass(frozen=True, slots=True)
class RoundShown:
    """One model call, what it used, and the tool calls that followed it. `text` is the thought."""

    id: str
    position: int
    status: State
    model: str
    provider: str
    text: str | None
    reasoning: str | None
    tool_calls: list[dict[str, Any]]
    finish_reason: str | None
    error_code: str | None
    error: str | None
    began_at: datetime
    seconds: float | None
    usage: Usage
    cost: Decimal | None
    calls: list[CallShown] = field(default_factory=list)

    @classmethod
    def of(cls, row: Record, used: UsageSum | None, calls: list[CallShown]) -> Self:
        """The round of a row."""
        texts = {
            name: _text(row[name]) for name in ("model", "provider", "text", "reasoning", "finish_reason", "error")
        }
        plain = {name: row[name] for name in ("id", "position", "error_code", "seconds")}
        return cls(
            status=State(row["status"]),
            tool_calls=loaded_json(row["tool_calls"]) or [],
            began_at=moment(row["began_at"]),
            usage=used.usage if used else Usage(),
            cost=used.cost if used else None,
            calls=calls,
            **texts,
            **plain,
        )

    def to_json(self) -> dict[str, Any]:
        """Its JSON form; a cost that is not known is the word `unknown`, as in an outcome."""
        calls = [call.to_json() for call in self.calls]
        own = {"usage": self.usage.model_dump(), "cost": cost_json(self.cost), "calls": calls}
        return _json(self, without="calls") | own


@dataclass(frozen=True, slots=True)
class FileShown:
    """One file, without its content. `kept` says whether the store has the content."""

    id: str
    type: str
    url: str
    filename: str
    mime_type: str
    size: int | None
    sha256: str | None
    meta: dict[str, Any]
    kept: bool

    @classmethod
    def of(cls, row: Record) -> Self:
        """The file of a row."""
        texts = {name: _text(row[name]) for name in ("type", "url", "filename", "mime_type")}
        plain = {name: row[name] for name in ("id", "size", "sha256")}
        return cls(meta=loaded_json(row["meta"]), kept=bool(row["kept"]), **texts, **plain)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        return _json(self)


@dataclass(frozen=True, slots=True)
class RunShown:
    """One run in full, without its events.

    Attributes:
        summary: What a list shows of it.
        app_id: The application it came from.
        message_id: The application's id of the message.
        params: The strategy's parameters, secrets masked.
        question_files: The files that came with the question, without their content.
        rounds: Its model calls, each with its tool calls.
        calls: Tool calls that came before any model call.
        files: The files it sent or linked.
        used: What it used, all in all.
        events: How many messages it sent.
    """

    summary: RunSummary
    app_id: str | None
    message_id: str | None
    params: dict[str, Any]
    question_files: list[dict[str, Any]]
    rounds: list[RoundShown]
    calls: list[CallShown]
    files: list[FileShown]
    used: UsageSum
    events: int

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        return {
            **self.summary.to_json(),
            "app_id": self.app_id,
            "message_id": self.message_id,
            "params": self.params,
            "question_files": self.question_files,
            "rounds": [entry.to_json() for entry in self.rounds],
            "calls": [call.to_json() for call in self.calls],
            "files": [file.to_json() for file in self.files],
            "used": self.used.to_json(),
            "events": self.events,
        }


def _text(text: str | None) -> Any:
    return None if text is None else loaded_text(text)


def _json(value: Any, *, without: str = "") -> dict[str, Any]:
    form = asdict(value)
    form.pop(without, None)
    times = {name: moment.isoformat() for name, moment in form.items() if isinstance(moment, datetime)}
    return form | times | {name: state.value for name, state in form.items() if isinstance(state, State)}

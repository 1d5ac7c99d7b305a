"""The tables. Times are whole microseconds since 1970 UTC; JSON and texts stand as `text` keeps them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Column, MetaData, Table

REVISIONS = ("0001", "0002")
"""The schemas there have been, oldest first; the last one is what this version reads and writes."""

VERSION_TABLE = "schema_version"

POSTGRES_SCHEMA = "enfilade"
"""Where the tables are in a PostgreSQL database, which others may use too."""


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables.

    Attributes:
        metadata: What holds them.
        hosts: The hosts at work, each with its last sign of life.
        runs: One row a run; `conversation_id` and `began_at` make a conversation.
        rounds: One row a model call. `kept` and `added` tell its prompt: so many messages of what the round before
            left, and these; NULL for a prompt that does not carry the run's question.
        calls: One row a tool call.
        events: The run's messages in order; texts that follow each other are one row of `count` messages.
        files: Files that were sent or linked.
        storage_values: The small storage.
        usage: One row a model call: who, which model, how much. It stays when its run is deleted.
        quota_uses: What quotas have counted: amounts by party, window (in milliseconds), part of the window, and thing.
        petitions: Tool calls that waited, or wait, for somebody's word.
    """

    metadata: "MetaData"
    hosts: "Table"
    runs: "Table"
    rounds: "Table"
    calls: "Table"
    events: "Table"
    files: "Table"
    storage_values: "Table"
    usage: "Table"
    quota_uses: "Table"
    petitions: "Table"


def make_tables() -> Tables:
    """The tables as values of SQLAlchemy, which is imported here."""
    from sqlalchemy import MetaData

    metadata = MetaData()
    return Tables(
        metadata,
        hosts=_hosts(metadata),
        runs=_runs(metadata),
        rounds=_rounds(metadata),
        calls=_calls(metadata),
        events=_events(metadata),
        files=_files(metadata),
        storage_values=_storage_values(metadata),
        usage=_usage(metadata),
        quota_uses=_quota_uses(metadata),
        petitions=_petitions(metadata),
    )


def _hosts(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "hosts",
        metadata,
        sa.Column("id", sa.Text, primary_key=True),
        _text("machine"),
        _number("pid"),
        sa.Column("process_began", sa.Double, nullable=False),
        _number("began_at"),
        _number("beat_at"),
    )


def _runs(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "runs",
        metadata,
        sa.Column("id", sa.Text, primary_key=True),
        _text("host_id"),
        _text("status"),
        _text("strategy"),
        _text("plugin"),
        _text("model"),
        _text("provider"),
        _text("user_id"),
        _text("conversation_id", null=True),
        _text("app_id", null=True),
        _text("message_id", null=True),
        _text("question"),
        _text("params"),
        _text("question_files"),
        _text("answer", null=True),
        _text("error_code", null=True),
        _text("error", null=True),
        _number("began_at"),
        _number("ended_at", null=True),
        sa.Index("runs_by_time", "began_at"),
        sa.Index("runs_by_conversation", "conversation_id", "began_at"),
        sa.Index("runs_by_user", "user_id", "began_at"),
        sa.Index("runs_by_status", "status"),
    )


def _rounds(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "rounds",
        metadata,
        sa.Column("id", sa.Text, primary_key=True),
        _run_id(),
        _number("position"),
        _text("status"),
        _text("model"),
        _text("provider"),
        _number("kept", null=True),
        _text("added", null=True),
        _text("text", null=True),
        _text("reasoning", null=True),
        _text("tool_calls", null=True),
        _text("finish_reason", null=True),
        _text("error_code", null=True),
        _text("error", null=True),
        _number("began_at"),
        sa.Column("seconds", sa.Double),
        sa.Index("rounds_by_run", "run_id", "position"),
    )


def _calls(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "calls",
        metadata,
        sa.Column("id", sa.Text, primary_key=True),
        _run_id(),
        _text("round_id", null=True),
        _number("position"),
        _text("call_id"),
        _text("tool"),
        _text("provider", null=True),
        _text("status"),
        _text("arguments"),
        _text("result", null=True),
        _text("error_code", null=True),
        _text("error", null=True),
        _number("began_at"),
        sa.Column("seconds", sa.Double),
        sa.Index("calls_by_run", "run_id", "position"),
    )


def _events(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "events",
        metadata,
        _run_id(primary_key=True),
        sa.Column("sequence", sa.BigInteger, primary_key=True),
        _number("count"),
        _text("type"),
        _text("message"),
        _number("at"),
        sqlite_with_rowid=False,
    )


def _files(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "files",
        metadata,
        sa.Column("id", sa.Text, primary_key=True),
        _run_id(),
        _number("position"),
        _text("type"),
        _text("url"),
        _text("filename"),
        _text("mime_type"),
        _number("size", null=True),
        _text("sha256", null=True),
        _text("meta"),
        sa.Column("data", sa.LargeBinary),
        _number("at"),
        sa.Index("files_by_run", "run_id", "position"),
    )


def _storage_values(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "storage_values",
        metadata,
        sa.Column("plugin", sa.Text, primary_key=True),
        sa.Column("conversation", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        _text("value"),
        _number("size"),
        _number("changed_at"),
        sqlite_with_rowid=False,
    )


def _usage(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "usage",
        metadata,
        sa.Column("round_id", sa.Text, primary_key=True),
        _text("run_id"),
        _text("conversation_id", null=True),
        _text("user_id"),
        _text("plugin"),
        _text("model"),
        _text("provider"),
        _number("at"),
        _number("prompt_tokens", null=True),
        _number("completion_tokens", null=True),
        _number("total_tokens", null=True),
        _number("cached_tokens", null=True),
        _number("reasoning_tokens", null=True),
        _number("cost_nano", null=True),
        sa.Index("usage_by_run", "run_id"),
        sa.Index("usage_by_conversation", "conversation_id"),
        sa.Index("usage_by_user", "user_id", "at"),
        sa.Index("usage_by_time", "at"),
    )


def _quota_uses(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "quota_uses",
        metadata,
        sa.Column("party", sa.Text, primary_key=True),
        sa.Column("span", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("slot", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("what", sa.Text, primary_key=True),
        sa.Column("amount", sa.Double, nullable=False),
        _number("ends_at"),
        sa.Index("quota_uses_by_end", "ends_at"),
        sqlite_with_rowid=False,
    )


def _petitions(metadata: "MetaData") -> "Table":
    import sqlalchemy as sa

    return sa.Table(
        "petitions",
        metadata,
        sa.Column("id", sa.Text, primary_key=True),
        _text("host_id"),
        _text("run_id"),
        _text("status"),
        _text("user_id"),
        _text("plugin"),
        _text("strategy"),
        _text("conversation_id", null=True),
        _text("tool"),
        _text("call_id"),
        _text("arguments"),
        _text("decided_arguments", null=True),
        _text("reason", null=True),
        _number("asked_at"),
        _number("expires_at"),
        _number("decided_at", null=True),
        sa.Index("petitions_by_time", "asked_at"),
        sa.Index("petitions_by_status", "status", "host_id"),
    )


def _text(name: str, *, null: bool = False) -> "Column[str]":
    import sqlalchemy as sa

    return sa.Column(name, sa.Text, nullable=null)


def _number(name: str, *, null: bool = False) -> "Column[int]":
    import sqlalchemy as sa

    return sa.Column(name, sa.BigInteger, nullable=null)


def _run_id(*, primary_key: bool = False) -> "Column[str]":
    import sqlalchemy as sa

    key = sa.ForeignKey("runs.id", ondelete="CASCADE")
    return sa.Column("run_id", sa.Text, key, nullable=False, primary_key=primary_key)

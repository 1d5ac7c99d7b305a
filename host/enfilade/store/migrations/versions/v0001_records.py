"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the tables."""
    _hosts()
    _runs()
    _rounds()
    _calls()
    _events()
    _files()
    _storage_values()
    _usage()


def _hosts() -> None:
    op.create_table(
        "hosts",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("process_began", sa.Double(), nullable=False),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("beat_at", sa.BigInteger(), nullable=False),
    )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("host_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("plugin", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text()),
        sa.Column("app_id", sa.Text()),
        sa.Column("message_id", sa.Text()),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("question_files", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("error_code", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
    )
    op.create_index("runs_by_time", "runs", ["began_at"])
    op.create_index("runs_by_conversation", "runs", ["conversation_id", "began_at"])
    op.create_index("runs_by_user", "runs", ["user_id", "began_at"])
    op.create_index("runs_by_status", "runs", ["status"])


def _rounds() -> None:
    op.create_table(
        "rounds",
        sa.Column("id", sa.Text(), primary_key=True),
        _run_id(),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("kept", sa.BigInteger()),
        sa.Column("added", sa.Text()),
        sa.Column("text", sa.Text()),
        sa.Column("reasoning", sa.Text()),
        sa.Column("tool_calls", sa.Text()),
        sa.Column("finish_reason", sa.Text()),
        sa.Column("error_code", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double()),
    )
    op.create_index("rounds_by_run", "rounds", ["run_id", "position"])


def _calls() -> None:
    op.create_table(
        "calls",
        sa.Column("id", sa.Text(), primary_key=True),
        _run_id(),
        sa.Column("round_id", sa.Text()),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text()),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("error_code", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double()),
    )
    op.create_index("calls_by_run", "calls", ["run_id", "position"])


def _events() -> None:
    op.create_table(
        "events",
        _run_id(primary_key=True),
        sa.Column("sequence", sa.BigInteger(), primary_key=True),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )


def _files() -> None:
    op.create_table(
        "files",
        sa.Column("id", sa.Text(), primary_key=True),
        _run_id(),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("mime_type", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger()),
        sa.Column("sha256", sa.Text()),
        sa.Column("meta", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary()),
        sa.Column("at", sa.BigInteger(), nullable=False),
    )
    op.create_index("files_by_run", "files", ["run_id", "position"])


def _storage_values() -> None:
    op.create_table(
        "storage_values",
        sa.Column("plugin", sa.Text(), primary_key=True),
        sa.Column("conversation", sa.Text(), primary_key=True),
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )


def _usage() -> None:
    op.create_table(
        "usage",
        sa.Column("round_id", sa.Text(), primary_key=True),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text()),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("plugin", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger()),
        sa.Column("completion_tokens", sa.BigInteger()),
        sa.Column("total_tokens", sa.BigInteger()),
        sa.Column("cached_tokens", sa.BigInteger()),
        sa.Column("reasoning_tokens", sa.BigInteger()),
        sa.Column("cost_nano", sa.BigInteger()),
    )
    op.create_index("usage_by_run", "usage", ["run_id"])
    op.create_index("usage_by_conversation", "usage", ["conversation_id"])
    op.create_index("usage_by_user", "usage", ["user_id", "at"])
    op.create_index("usage_by_time", "usage", ["at"])


def _run_id(*, primary_key: bool = False) -> "sa.Column[str]":
    key = sa.ForeignKey("runs.id", ondelete="CASCADE")
    return sa.Column("run_id", sa.Text(), key, nullable=False, primary_key=primary_key)

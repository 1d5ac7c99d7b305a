"""Counts of quotas, and tool calls that wait for a word."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the tables."""
    _quota_uses()
    _petitions()


def _quota_uses() -> None:
    op.create_table(
        "quota_uses",
        sa.Column("party", sa.Text(), primary_key=True),
        sa.Column("span", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("slot", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("what", sa.Text(), primary_key=True),
        sa.Column("amount", sa.Double(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("quota_uses_by_end", "quota_uses", ["ends_at"])


def _petitions() -> None:
    op.create_table(
        "petitions",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("host_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("plugin", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text()),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("decided_arguments", sa.Text()),
        sa.Column("reason", sa.Text()),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger()),
    )
    op.create_index("petitions_by_time", "petitions", ["asked_at"])
    op.create_index("petitions_by_status", "petitions", ["status", "host_id"])

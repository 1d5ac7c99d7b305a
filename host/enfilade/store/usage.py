"""Sums of tokens and costs: by round, run, conversation, user, plugin, model; over a time where asked."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from enfilade.ledger import Cost
from enfilade.store.clock import MICROSECONDS
from enfilade.store.database import Database, Record
from enfilade.store.round_record import NANO
from enfilade.store.text import loaded_text, stored_text
from enfilade_sdk.prompts import Usage

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select

Group = Literal["round_id", "run_id", "conversation_id", "user_id", "plugin", "model", "provider"]


@dataclass(frozen=True, slots=True)
class UsageScope:
    """Which model calls count; None is all. Those of deleted runs count too, unless they were deleted with them.

    Attributes:
        round_id, run_id, conversation_id, user_id, plugin, model, provider: Of which only.
        since: From when on, with a time zone.
    """

    round_id: str | None = None
    run_id: str | None = None
    conversation_id: str | None = None
    user_id: str | None = None
    plugin: str | None = None
    model: str | None = None
    provider: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class UsageSum:
    """What some model calls used.

    Attributes:
        usage: Tokens, as far as the providers said; None where none of them did.
        cost: Dollars, as far as the price is known; None where it is for none.
        calls: How many calls there were, also those that failed or are under way.
        unknown: Of how many no tokens are known, so that the sum is too small.
        unpriced: Of how many no cost is known.
    """

    usage: Usage
    cost: Decimal | None
    calls: int
    unknown: int
    unpriced: int

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as an outcome has it: an unknown cost is the word `unknown`, an unknown count is null."""
        return {
            "usage": self.usage.model_dump(),
            **Cost(self.cost or Decimal(), self.unpriced).to_json(),
            "calls": self.calls,
            "unknown": self.unknown,
            "unpriced": self.unpriced,
        }


async def usage_sum(database: Database, scope: UsageScope) -> UsageSum:
    """Adds up what was used.

    Raises:
        StoreError: The store cannot be read now.
    """
    (row,) = await database.rows(_sums(database, scope))
    return _sum_of(row)


async def usage_by(database: Database, group: Group, scope: UsageScope | None = None) -> dict[str | None, UsageSum]:
    """Adds up what was used, for each user, model, run ... apart; None stands for runs without a conversation.

    Raises:
        StoreError: The store cannot be read now.
    """
    column = database.tables.usage.c[group]
    query = _sums(database, scope or UsageScope()).add_columns(column.label("name")).group_by(column).order_by(column)
    rows = await database.rows(query)
    return {None if row["name"] is None else loaded_text(row["name"]): _sum_of(row) for row in rows}


def _sums(database: Database, scope: UsageScope) -> "Select[Any]":
    from sqlalchemy import func, select

    usage = database.tables.usage
    sums: list[ColumnElement[Any]] = [
        func.sum(usage.c[name]).label(name) for name in (*Usage.model_fields, "cost_nano")
    ]
    known = func.count(func.coalesce(usage.c.total_tokens, usage.c.prompt_tokens, usage.c.completion_tokens))
    counts = [func.count().label("calls"), known.label("known"), func.count(usage.c.cost_nano).label("priced")]
    return select(*sums, *counts).select_from(usage).where(*_conditions(database, scope))


def _conditions(database: Database, scope: UsageScope) -> "list[ColumnElement[bool]]":
    columns = database.tables.usage.c
    names = ("round_id", "run_id", "conversation_id", "user_id", "plugin", "model", "provider")
    found = [(columns[name], getattr(scope, name)) for name in names]
    conditions = [column == stored_text(value) for column, value in found if value is not None]
    if scope.since is not None:
        conditions.append(columns.at >= int(scope.since.timestamp() * MICROSECONDS))
    return conditions


def _sum_of(row: Record) -> UsageSum:
    counts = {name: None if row[name] is None else int(row[name]) for name in Usage.model_fields}
    cost = None if row["cost_nano"] is None else Decimal(int(row["cost_nano"])) / NANO
    calls = int(row["calls"])
    return UsageSum(Usage(**counts), cost, calls, calls - int(row["known"]), calls - int(row["priced"]))

"""A conversation's messages for the next turn, rebuilt from the records: whole turns, the newest that fit."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enfilade.store.database import Database, Record
from enfilade.store.rebuild import RunRecords
from enfilade.store.state import State
from enfilade.store.text import stored_text
from enfilade_sdk.prompts import AssistantMessage, ContentPart, ImagePart, PromptMessage

if TYPE_CHECKING:
    from sqlalchemy import Select, Table

PAGE = 20
"""Turns that are read at a time."""

CHARACTERS_PER_TOKEN = 4
"""An estimate; it is called so wherever it shows."""

IMAGE_TOKENS = 1000
"""An estimate too: providers count between some 85 and 1,600 for an image."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a conversation is wanted; None is no limit.

    Attributes:
        messages: The most messages.
        tokens: The most tokens, as estimated.
    """

    messages: int | None = None
    tokens: int | None = None

    def holds(self, messages: int, tokens: int) -> bool:
        """Whether so much fits."""
        return (self.messages is None or messages <= self.messages) and (self.tokens is None or tokens <= self.tokens)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Earlier turns, oldest first.

    Attributes:
        messages: Their messages, for `Question.history`.
        turns: How many turns that are.
        estimated_tokens: About how many tokens.
        cut: Whether older turns were left out.
    """

    messages: tuple[PromptMessage, ...] = ()
    turns: int = 0
    estimated_tokens: int = 0
    cut: bool = False


async def conversation(
    database: Database, conversation_id: str, *, user_id: str | None = None, window: Window | None = None
) -> Conversation:
    """Rebuilds a conversation.

    Args:
        database: Where the records are.
        conversation_id: Which one.
        user_id: Whose turns only; None takes everyone's. Give it wherever users could name each other's conversations.
        window: How much is wanted; None is everything.

    Returns:
        The newest turns that fit, whole, without gaps. Runs that are still going are no turns yet.

    Raises:
        StoreError: The store cannot be read now.
    """
    window = window or Window()
    turns: list[list[PromptMessage]] = []
    messages = tokens = 0
    cut = False
    async with aclosing(_newest_first(database, conversation_id, user_id)) as runs:
        async for records in runs:
            turn = records.turn()
            cost = estimated_tokens(turn)
            if cut := not window.holds(messages + len(turn), tokens + cost):
                break
            turns.append(turn)
            messages += len(turn)
            tokens += cost
    return Conversation(tuple(message for turn in reversed(turns) for message in turn), len(turns), tokens, cut)


def estimated_tokens(messages: Sequence[PromptMessage]) -> int:
    """About how many tokens the messages take: a quarter of their characters, a flat number for an image."""
    return sum(map(_estimate, messages))


def _estimate(message: PromptMessage) -> int:
    if isinstance(message.content, list):
        return sum(map(_part, message.content))
    characters = len(message.content or "")
    if isinstance(message, AssistantMessage):
        characters += sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return -(-characters // CHARACTERS_PER_TOKEN)


def _part(part: ContentPart) -> int:
    return IMAGE_TOKENS if isinstance(part, ImagePart) else -(-len(part.text) // CHARACTERS_PER_TOKEN)


async def _newest_first(
    database: Database, conversation_id: str, user_id: str | None
) -> AsyncGenerator[RunRecords, None]:
    runs = database.tables.runs.c
    query = database.tables.runs.select().where(runs.conversation_id == stored_text(conversation_id))
    query = query.where(runs.status != State.RUNNING.value).order_by(runs.began_at.desc(), runs.id.desc()).limit(PAGE)
    if user_id is not None:
        query = query.where(runs.user_id == stored_text(user_id))
    page = await _page(database, query)
    while page:
        for records in page:
            yield records
        last = page[-1].run
        older = (runs.began_at < last["began_at"]) | ((runs.began_at == last["began_at"]) & (runs.id < last["id"]))
        page = await _page(database, query.where(older)) if len(page) == PAGE else []


async def _page(database: Database, query: "Select[Any]") -> list[RunRecords]:
    page = await database.rows(query)
    ids = [row["id"] for row in page]
    rounds = await _by_run(database, database.tables.rounds, ids)
    calls = await _by_run(database, database.tables.calls, ids)
    return [RunRecords(row, rounds[row["id"]], calls[row["id"]]) for row in page]


async def _by_run(database: Database, table: "Table", ids: Sequence[str]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for row in await database.rows(table.select().where(table.c.run_id.in_(ids)).order_by(table.c.position)):
        found[row["run_id"]].append(row)
    return found

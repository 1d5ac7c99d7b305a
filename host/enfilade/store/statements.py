"""The statements that write a batch, each made once and then kept: to make one takes longer than to run it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from enfilade.store.batch import KEYS, TableName
from enfilade.store.schema import Tables
from enfilade.store.state import State

if TYPE_CHECKING:
    from sqlalchemy import Executable

Verb = Literal["insert", "update"]
Columns = tuple[str, ...]


class Statement(NamedTuple):
    """One statement; its parameters are named like the columns, and `key_value` is the key of an update.

    Attributes:
        executable: For SQLAlchemy.
        text: The same in the words of SQLite; empty where the tables are not in a file.
    """

    executable: "Executable"
    text: str


class Statements:
    """Inserts and updates by table and columns. There are few: a record begins and ends in a handful of ways.

    An insert leaves a row alone that is there already. An update leaves a record alone that has its final state.

    Args:
        tables: The tables.
        postgres: Whether they are those of a PostgreSQL server; else they are in a SQLite file.
    """

    def __init__(self, tables: Tables, *, postgres: bool) -> None:
        self._tables = tables
        self._postgres = postgres
        self._made: dict[tuple[Verb, TableName, Columns], Statement] = {}

    def get(self, verb: Verb, table: TableName, columns: Columns) -> Statement:
        """The statement that writes these columns."""
        place = (verb, table, columns)
        if (known := self._made.get(place)) is None:
            known = self._made[place] = self._make(*place)
        return known

    def _make(self, verb: Verb, table: TableName, columns: Columns) -> Statement:
        from sqlalchemy.dialects import sqlite

        target = getattr(self._tables, table)
        made = _update(target, table, columns) if verb == "update" else self._insert(target, columns)
        return Statement(made, "" if self._postgres else str(made.compile(dialect=sqlite.dialect(paramstyle="named"))))

    def _insert(self, target: Any, columns: Columns) -> Any:
        from sqlalchemy import bindparam

        values: dict[str, Any] = {name: bindparam(name) for name in columns}
        insert: Any = import_module(f"sqlalchemy.dialects.{'postgresql' if self._postgres else 'sqlite'}").insert
        return insert(target).values(values).on_conflict_do_nothing()


def _update(target: Any, table: TableName, columns: Columns) -> Any:
    from sqlalchemy import bindparam, literal_column

    (key,) = KEYS[table]
    statement = target.update().where(target.c[key] == bindparam("key_value"))
    if "status" in target.c:
        statement = statement.where(target.c.status == literal_column(f"'{State.RUNNING.value}'"))
    return statement.values({name: bindparam(name) for name in columns})

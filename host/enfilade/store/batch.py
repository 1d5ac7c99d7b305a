"""What waits to be written: rows by key, merged while they wait, so that what began and ended is written once."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from enfilade.store.masking import Masking
from enfilade.store.text import stored_json

Row = dict[str, Any]

TableName = Literal["runs", "rounds", "usage", "calls", "events", "files"]

ORDER: Final[tuple[TableName, ...]] = ("runs", "rounds", "usage", "calls", "events", "files")
"""The order of writing: rows come after those that they point to."""

KEYS: Final[dict[TableName, tuple[str, ...]]] = {
    "runs": ("id",),
    "rounds": ("id",),
    "usage": ("round_id",),
    "calls": ("id",),
    "events": ("run_id", "sequence"),
    "files": ("id",),
}
"""The columns of each table's key."""

ROW_BYTES = 200
"""What a row counts beside its texts."""

TEXT_BYTES = 64 * 1024
"""Texts that follow each other are one row up to this size."""


@dataclass(slots=True)
class Saying:
    """A row of texts that follow each other, still open."""

    row: Row
    meta: Any
    masking: Masking
    parts: list[str]
    size: int

    def close(self) -> None:
        """Puts the joined text into the row."""
        text = self.masking.text("".join(self.parts))
        meta = self.masking.value(self.meta)
        self.row["message"] = stored_json({"type": "text", "message": {"text": text}, "meta": meta})


@dataclass(slots=True)
class Batch:
    """Rows to insert and changes to rows that were inserted before, by table and key.

    Attributes:
        records: How many rows and changes there are.
        size: About how many bytes.
    """

    records: int = 0
    size: int = 0
    _inserts: dict[TableName, dict[object, Row]] = field(default_factory=dict)
    _changes: dict[TableName, dict[object, Row]] = field(default_factory=dict)
    _sayings: dict[str, Saying] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.records

    def insert(self, table: TableName, row: Row) -> None:
        """Adds a row."""
        self._inserts.setdefault(table, {})[_key(table, row)] = row
        self._count(row)

    def change(self, table: TableName, key: str, changes: Row) -> None:
        """Changes a row: here, when it still waits in this batch, else by an update."""
        if (row := self._inserts.get(table, {}).get(key)) is not None:
            row |= changes
            self.size += _size(changes)
            return
        known = self._changes.setdefault(table, {})
        if key in known:
            known[key] |= changes
            self.size += _size(changes)
        else:
            known[key] = changes
            self._count(changes)

    def say(self, row: Row, text: str, meta: Any, masking: Masking) -> None:
        """Begins a row of texts that follow each other."""
        self.hush(row["run_id"])
        self._sayings[row["run_id"]] = Saying(row, meta, masking, [text], len(text))
        self.insert("events", row)
        self.size += len(text)

    def say_more(self, run_id: str, text: str, meta: Any) -> bool:
        """Adds a text to the row of the one before, when nothing came between and there is room; says whether."""
        saying = self._sayings.get(run_id)
        if saying is None or saying.meta != meta or saying.size + len(text) > TEXT_BYTES:
            return False
        saying.parts.append(text)
        saying.row["count"] += 1
        saying.size += len(text)
        self.size += len(text)
        return True

    def hush(self, run_id: str) -> None:
        """Lets the next text of a run begin a row of its own."""
        if (saying := self._sayings.pop(run_id, None)) is not None:
            saying.close()

    def seal(self) -> None:
        """Makes it ready to be written; nothing is added afterwards."""
        while self._sayings:
            self._sayings.popitem()[1].close()

    def inserts(self, table: TableName) -> list[Row]:
        """The rows to insert."""
        return list(self._inserts.get(table, {}).values())

    def changes(self, table: TableName) -> list[tuple[object, Row]]:
        """The changes, each with the key of its row."""
        return list(self._changes.get(table, {}).items())

    def _count(self, row: Row) -> None:
        self.records += 1
        self.size += ROW_BYTES + _size(row)


def _key(table: TableName, row: Row) -> object:
    names = KEYS[table]
    return row[names[0]] if len(names) == 1 else tuple(row[name] for name in names)


def _size(row: Row) -> int:
    size = 0
    for value in row.values():
        if isinstance(value, str | bytes):
            size += len(value)
    return size

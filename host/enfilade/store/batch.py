"""What waits to be written: rows by key, merged while they wait, so that what began and ended is written once."""

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from enfilade.store.masking import Masking
from enfilade.store.text import stored_json

_log = logging.getLogger(__name__)

Row = dict[str, Any]

Note = Callable[[], None]
"""Makes rows of what was noted down."""

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

MOST_NOTES = 256
"""So many notes wait to be written out; together that takes a few milliseconds."""

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
        meta = self.masking.value(self.meta or {})
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
    _inserts: dict[TableName, dict[object, Row]] = field(default_factory=lambda: defaultdict(dict))
    _appended: dict[TableName, list[Row]] = field(default_factory=lambda: defaultdict(list))
    _changes: dict[TableName, dict[object, Row]] = field(default_factory=lambda: defaultdict(dict))
    _sayings: dict[str, Saying] = field(default_factory=dict)
    _notes: list[Note] = field(default_factory=list)

    def __len__(self) -> int:
        return self.records

    def insert(self, table: TableName, row: Row) -> None:
        """Adds a row that may be changed."""
        self._inserts[table][row[KEYS[table][0]]] = row
        self._count(row)

    def append(self, table: TableName, row: Row, size: int) -> None:
        """Adds a row that nothing changes any more, with so many bytes in it."""
        self._appended[table].append(row)
        self.records += 1
        self.size += ROW_BYTES + size

    def change(self, table: TableName, key: str, changes: Row) -> None:
        """Changes a row: here, when it still waits in this batch, else by an update."""
        if (row := self._inserts[table].get(key)) is not None:
            row |= changes
            self.size += _size(changes)
            return
        known = self._changes[table]
        if key in known:
            known[key] |= changes
            self.size += _size(changes)
        else:
            known[key] = changes
            self._count(changes)

    def note(self, note: Note) -> None:
        """Keeps a note, which becomes rows when the batch is written, so that nobody waits for that now."""
        self._notes.append(note)
        self.records += 1
        if len(self._notes) >= MOST_NOTES:
            self.read()

    def read(self) -> None:
        """Makes rows of the notes, in order."""
        notes, self._notes = self._notes, []
        self.records -= len(notes)
        for note in notes:
            try:
                note()
            except Exception:  # noqa: BLE001 - the other records are not lost for one that cannot be made
                _log.exception("a record cannot be written out; it is left out")

    def say(self, row: Row, text: str, meta: Any, masking: Masking) -> None:
        """Begins a row of texts that follow each other.

        Args:
            row: The row's other columns; its run's texts before are complete now.
            text: The first text.
            meta: What the texts' messages say beside them.
            masking: Takes secrets out of what is written.
        """
        self.hush(row["run_id"])
        self._sayings[row["run_id"]] = Saying(row, meta, masking, [text], len(text))
        self.append("events", row, len(text))

    def say_more(self, run_id: str, text: str, meta: Any) -> bool:
        """Adds a text to the row of the one before, when nothing came between and there is room; says whether."""
        saying = self._sayings.get(run_id)
        if saying is None or (saying.meta is not meta and saying.meta != meta) or saying.size + len(text) > TEXT_BYTES:
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
        self.read()
        while self._sayings:
            self._sayings.popitem()[1].close()

    def inserts(self, table: TableName) -> list[Row]:
        """The rows to insert."""
        return [*self._inserts[table].values(), *self._appended[table]]

    def changes(self, table: TableName) -> list[tuple[object, Row]]:
        """The changes, each with the key of its row."""
        return list(self._changes[table].items())

    def _count(self, row: Row) -> None:
        self.records += 1
        self.size += ROW_BYTES + _size(row)


def _size(row: Row) -> int:
    size = 0
    for value in row.values():
        if type(value) is str or type(value) is bytes:
            size += len(value)
    return size

"""Writes one run's rows: masks secrets, makes texts fit for every database, hands the rows to the writer."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from enfilade.store.batch import Row, TableName
from enfilade.store.clock import now
from enfilade.store.masking import Masking
from enfilade.store.state import State
from enfilade.store.text import stored_json, stored_text
from enfilade.store.writer import Writer
from enfilade_sdk.errors import EnfiladeError, RunCancelled
from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, ToolInvokeMessage

MOST = 2**63 - 1
"""The largest number a database takes."""


@dataclass(frozen=True, slots=True)
class Pen:
    """What the records of one run are written with.

    Attributes:
        writer: Takes the rows.
        masking: Knows the run's secrets.
        strict: Whether a run is to fail when its records cannot be written now.
    """

    writer: Writer
    masking: Masking
    strict: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether another record may be written now, without waiting."""
        return self.writer.has_room and not (self.strict and self.writer.trouble is not None)

    async def ready(self) -> None:
        """Waits until there is room for another record.

        Raises:
            StoreError: The store cannot be written now, and the run is to fail then, or no more may wait.
        """
        if self.strict and self.writer.trouble is not None:
            raise self.writer.trouble
        await self.writer.room()

    def note(self, write: Callable[..., None], *what: Any) -> None:
        """Notes down what is to be written; it is written with the batch. Whoever calls must not change it any more."""
        self.writer.note(partial(write, *what))

    def insert(self, table: TableName, row: Row) -> None:
        """Writes a new row, within a note."""
        self.writer.batch.insert(table, row)

    def change(self, table: TableName, key: str, changes: Row) -> None:
        """Writes changes to a row, within a note."""
        self.writer.batch.change(table, key, changes)

    def text(self, text: str) -> str:
        """A text as it is kept."""
        return stored_text(self.masking.text(text))

    def json(self, value: Any) -> str:
        """A JSON value as it is kept."""
        return stored_json(self.masking.value(value))

    def message(self, message: ToolInvokeMessage) -> str:
        """A message as it is kept; of a blob only its size."""
        payload = message.message
        kept = vars(payload)  # the payloads are flat: this is their dump, without the time it takes
        if isinstance(payload, BlobPayload | BlobChunkPayload):
            kept = {name: value for name, value in kept.items() if name != "blob"} | {"size": len(payload.blob)}
        return self.json({"type": message.type.value, "message": kept, "meta": message.meta or {}})

    def error(self, error: EnfiladeError | None) -> Row:
        """The columns of an error; its details are not kept, they may hold anything."""
        if error is None:
            return {"error_code": None, "error": None}
        return {"error_code": error.code.value, "error": self.text(error.message)}


@dataclass(slots=True)
class Clock:
    """When something began, for how long it takes."""

    began_at: int
    _started: float

    @classmethod
    def start(cls) -> "Clock":
        """A clock that starts now."""
        return cls(now(), time.monotonic())

    def seconds(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._started


def state_of(error: BaseException) -> State:
    """The state of what ended with an error."""
    return State.CANCELLED if isinstance(error, RunCancelled) or not isinstance(error, Exception) else State.FAILED


def count(number: int | None) -> int | None:
    """A count as it is kept; one that no database takes is unknown."""
    return number if number is not None and 0 <= number <= MOST else None

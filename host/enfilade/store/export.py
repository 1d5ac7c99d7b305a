"""A run as one JSON document, in pieces, so that a long run needs no more memory than a short one."""

import base64
import json
from collections.abc import AsyncGenerator
from typing import Any

from enfilade.store.database import Database, Record
from enfilade.store.runs import file_content, show_run
from enfilade.store.shown import FileShown, time_of
from enfilade.store.text import loaded_json

FORMAT = 1
"""The document's version; it grows when a member changes its meaning."""

PAGE = 200
"""Events that are read at a time."""


async def export_run(database: Database, name: str) -> AsyncGenerator[str, None]:
    """A run with all its records as a JSON object, in pieces of text that are written one after the other.

    It has the members of `RunShown.to_json`, with `files` holding what was kept of their content (`data`, in base64)
    and `events` holding the messages in order, each with `sequence`, `count` and `at`.

    Raises:
        RunNotFoundError: There is none of that id, or several.
        StoreError: The store cannot be read now.
    """
    run = await show_run(database, name)
    form = run.to_json()
    del form["files"], form["events"]
    yield _text({"enfilade_run": FORMAT, **form})[:-1] + ', "files": ['
    separator = "\n"
    for file in run.files:
        yield separator + _text(await _file(database, file))
        separator = ",\n"
    yield '], "events": ['
    separator = "\n"
    async for event in _events(database, run.summary.id):
        yield separator + _text(event)
        separator = ",\n"
    yield "]}\n"


async def _file(database: Database, file: FileShown) -> dict[str, Any]:
    data = await file_content(database, file.id) if file.kept else None
    return file.to_json() | ({} if data is None else {"data": base64.b64encode(data).decode()})


async def _events(database: Database, run_id: str) -> AsyncGenerator[dict[str, Any], None]:
    events = database.tables.events
    query = events.select().where(events.c.run_id == run_id).order_by(events.c.sequence).limit(PAGE)
    last = 0
    while page := await database.rows(query.where(events.c.sequence > last)):
        for row in page:
            yield {name: row[name] for name in ("sequence", "count")} | _at(row) | loaded_json(row["message"])
            last = row["sequence"]


def _at(row: Record) -> dict[str, Any]:
    moment = time_of(row["at"])
    return {"at": None if moment is None else moment.isoformat()}


def _text(value: Any) -> str:
    return json.dumps(value)

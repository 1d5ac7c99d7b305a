"""`enfilade knowledge list`."""

from pathlib import Path
from typing import Any

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.knowledge.bases import KnowledgeBases, told
from enfilade.cli.listing import table
from enfilade.cli.screen import YELLOW, Screen
from enfilade.tools.knowledge.adding import totals
from enfilade.tools.knowledge.documents import description_of
from enfilade.tools.knowledge.index import Index
from enfilade_sdk.errors import EnfiladeError

_COLUMNS = ("name", "documents", "parts", "retriever", "description")


def show(as_json: bool) -> int:
    """Prints the knowledge bases that there are; one that cannot be opened is told and left out of the table."""

    def work(screen: Screen) -> int:
        bases = KnowledgeBases.here()
        rows = [row for name, file in bases.files().items() if (row := _row(bases, name, file)) is not None]
        for row in rows:
            if row["error"] is not None:
                screen.error(f"warning: {row['error']}", YELLOW)
        if as_json:
            screen.say(json_text(rows, indent=2) + "\n")
        elif sound := [row for row in rows if row["error"] is None]:
            screen.say(table(_COLUMNS, sound))
        elif not rows:
            screen.error("there is no knowledge base yet; make one with: enfilade knowledge add NAME PATH")
        return DONE

    return told(work, as_json=as_json)


def _row(bases: KnowledgeBases, name: str, file: Path) -> dict[str, Any] | None:
    """What is told of one; None where it was never made."""
    settings = bases.settings(name)
    row: dict[str, Any] = {"name": name, "file": str(file), "retriever": settings.way, "error": None}
    try:
        index = Index.open(name, file)
        if index is None:
            return None
        try:
            row["documents"], row["parts"] = totals(index)
            row["description"] = settings.description or description_of(index) or None
        finally:
            index.close()
    except EnfiladeError as error:
        row["error"] = error.message
    return row

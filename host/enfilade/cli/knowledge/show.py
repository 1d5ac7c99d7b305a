"""`enfilade knowledge show`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.knowledge.bases import KnowledgeBases, counted, told
from enfilade.cli.listing import table
from enfilade.cli.screen import Screen
from enfilade.tools.knowledge.adding import totals
from enfilade.tools.knowledge.documents import Document, description_of, documents_of

_COLUMNS = ("document", "format", "parts", "bytes", "added")


def show(name: str, as_json: bool) -> int:
    """Prints what is in a knowledge base."""

    def work(screen: Screen) -> int:
        bases = KnowledgeBases.here()
        settings, index = bases.settings(name), bases.opened(name)
        try:
            documents, (_, parts) = documents_of(index), totals(index)
            described = settings.description or description_of(index)
        finally:
            index.close()
        form = {
            "name": name,
            "file": str(index.file),
            "description": described or None,
            "retriever": settings.way,
            "parts": parts,
            "documents": [_form(document) for document in documents],
        }
        screen.say(json_text(form, indent=2) + "\n" if as_json else _text(form, documents))
        return DONE

    return told(work, as_json=as_json)


def _form(document: Document) -> dict[str, Any]:
    return {
        "document": document.name,
        "path": document.path,
        "format": document.format,
        "bytes": document.bytes,
        "parts": document.parts,
        "digest": document.digest,
        "embedding": document.embedding or None,
        "added": _time(document).isoformat(),
    }


def _text(form: dict[str, Any], documents: Sequence[Document]) -> str:
    size = f"{counted(len(documents), 'document')} in {counted(form['parts'], 'part')}"
    head = f"{form['name']}: {size}, in {form['file']}\n"
    said = f"{form['description']}\n" if form["description"] else ""
    if not documents:
        return head + said
    rows = [_form(document) | {"added": f"{_time(document).astimezone():%Y-%m-%d %H:%M}"} for document in documents]
    return f"{head}{said}\n{table(_COLUMNS, rows)}"


def _time(document: Document) -> datetime:
    return datetime.fromtimestamp(document.added_at / 1e6, UTC)

"""Takes documents out of a knowledge base."""

import os
from collections.abc import Sequence
from pathlib import Path

from enfilade.tools.knowledge.documents import Document, documents_of, take_out
from enfilade.tools.knowledge.failure import KnowledgeNotFoundError
from enfilade.tools.knowledge.index import Index
from enfilade.tools.names import did_you_mean
from enfilade_sdk.errors import InvalidParamsError

_MOST_NAMED = 10


def remove_documents(index: Index, paths: Sequence[str], folder: Path) -> list[str]:
    """Takes documents out, all that are meant or none; gives what they were called.

    Args:
        index: The knowledge base.
        paths: Each a file, a folder (for all below it), or what a document or a folder of documents is called; the
            files themselves need not be there any more.
        folder: Where relative paths start.

    Raises:
        KnowledgeNotFoundError: One of them means no document; the text has near matches.
        InvalidParamsError: A name is that of several documents.
    """
    with index.writing() as connection:
        documents = documents_of(index)
        meant = {document.id: document for given in paths for document in _meant(given, documents, folder, index.name)}
        take_out(connection, meant)
    return [document.name for document in meant.values()]


def _meant(given: str, documents: Sequence[Document], folder: Path, knowledge: str) -> list[Document]:
    path = os.path.abspath(folder / Path(given).expanduser())  # noqa: PTH100 - as when it was added
    by_path = [document for document in documents if _is_at(document.path, path)]
    if by_path:
        return by_path
    name = os.path.normpath(given)
    by_name = [document for document in documents if _is_at(document.name, name)]
    if len(by_name) > len({document.name for document in by_name}):
        where = " and ".join(document.path for document in by_name[:_MOST_NAMED])
        raise InvalidParamsError(f"{given!r} is the name of several documents; give a path: {where}")
    if by_name:
        return by_name
    names = [document.name for document in documents]
    near = did_you_mean(given, names) or f" It has: {_listed(names)}" if names else " It has none"
    raise KnowledgeNotFoundError(f"the knowledge base {knowledge!r} has no document {given!r}.{near}")


def _is_at(place: str, wanted: str) -> bool:
    return place == wanted or place.startswith(f"{wanted.rstrip(os.sep)}{os.sep}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")

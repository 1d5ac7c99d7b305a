"""Where knowledge bases are kept."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from enfilade.settings.data_folder import data_folder
from enfilade.tools.knowledge.failure import KnowledgeNotFoundError
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade.tools.names import did_you_mean
from enfilade_sdk.errors import InvalidParamsError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}\Z")
_ENDING = ".db"


def bases_folder() -> Path:
    """`knowledge` in the data folder."""
    return data_folder() / "knowledge"


def file_of(name: str, settings: KnowledgeSettings, folder: Path) -> Path:
    """The file of a knowledge base, whether there is one or not.

    Args:
        name: Its name.
        settings: Its settings.
        folder: Where a relative path of the settings starts.

    Raises:
        InvalidParamsError: A knowledge base cannot have that name.
    """
    if not _NAME.match(name):
        raise InvalidParamsError(
            f"a knowledge base cannot be named {name!r}; expected up to 48 letters, digits, - and _ as in harbour-rules"
        )
    return bases_folder() / f"{name}{_ENDING}" if settings.file is None else folder / settings.file.expanduser()


def files(configured: Mapping[str, KnowledgeSettings], folder: Path) -> dict[str, Path]:
    """The files of all knowledge bases that there are or that are configured, in order of their names."""
    there = {path.stem: path for path in _made()}
    named = {name: file_of(name, settings, folder) for name, settings in configured.items() if _NAME.match(name)}
    return dict(sorted((there | named).items()))


def not_found(name: str, known: Iterable[str]) -> KnowledgeNotFoundError:
    """The error for a name that no knowledge base has."""
    names = sorted(set(known) - {name})
    there = f" There are: {', '.join(names)}." if names else " There is none yet."
    meant = did_you_mean(name, names) or f"{there} Make it with: enfilade knowledge add {name} PATH"
    return KnowledgeNotFoundError(f"there is no knowledge base {name!r}.{meant}")


def _made() -> list[Path]:
    return [path for path in bases_folder().glob(f"*{_ENDING}") if _NAME.match(path.stem)]

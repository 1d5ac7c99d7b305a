"""What a driver's exception means, in words for whoever runs the host."""

import sqlite3
from collections.abc import Iterator

from enfilade.store.errors import StoreError, Trouble

_SQLITE = {
    "FULL": (Trouble.FULL, "the disk is full; free some space, or name another place in [store] url"),
    "IOERR": (Trouble.FULL, "the disk refuses to write (full, a limit on file sizes, or broken); look at its space"),
    "READONLY": (Trouble.READ_ONLY, "it is read-only; make the file and its folder writable, or name another place"),
    "BUSY": (Trouble.LOCKED, "another program holds it locked; end that program, or name another file"),
    "LOCKED": (Trouble.LOCKED, "another program holds it locked; end that program, or name another file"),
    "CANTOPEN": (Trouble.REFUSED, "it cannot be opened; its folder must exist and be writable"),
    "PERM": (Trouble.REFUSED, "this user may not open it"),
    "AUTH": (Trouble.REFUSED, "this user may not open it"),
    "CORRUPT": (Trouble.DAMAGED, "the file is damaged; move it away and restore a copy, or begin a new one"),
    "NOTADB": (Trouble.NOT_A_STORE, "the file is no SQLite database; name another one in [store] url"),
}

_POSTGRES = {
    "08": (Trouble.GONE, "the server does not answer"),
    "28": (Trouble.REFUSED, "the server refuses this user or password"),
    "3D": (Trouble.REFUSED, "the server has no database of that name; create it, or correct [store] url"),
    "42501": (Trouble.REFUSED, "this user lacks a privilege in the database"),
    "25006": (Trouble.READ_ONLY, "the database is read-only"),
    "53100": (Trouble.FULL, "the server's disk is full"),
    "53": (Trouble.GONE, "the server has no resources left for this connection"),
    "57": (Trouble.GONE, "the server is shutting down or starting"),
}

_GONE = (Trouble.GONE, "the server does not answer; see whether it runs and whether the address is right")


def store_error(error: BaseException, place: str) -> StoreError:
    """The error that says what happened to the store at `place`; an error of our own stays as it is."""
    if isinstance(error, StoreError):
        return error
    trouble, text = _meaning(error)
    return StoreError(f"the store {place} cannot be used: {text}", trouble)


def is_unfit(error: BaseException) -> bool:
    """Whether the fault lies with the rows (a broken rule, a value out of range) and not with the store."""
    from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError

    if isinstance(error, IntegrityError | DataError | sqlite3.IntegrityError | sqlite3.DataError):
        return True
    if isinstance(error, DBAPIError):
        return any(isinstance(cause, ValueError | OverflowError) for cause in _chain(error)) or (
            _sqlstate(error)[:2] in ("22", "23")
        )
    return isinstance(error, StatementError | ValueError | TypeError | OverflowError)


def _meaning(error: BaseException) -> tuple[Trouble, str]:
    for cause in _chain(error):
        if isinstance(cause, sqlite3.Error):
            return _sqlite_meaning(cause)
    if state := _sqlstate(error):
        for length in (5, 2):
            if state[:length] in _POSTGRES:
                return _POSTGRES[state[:length]]
        return Trouble.FAILED, f"the server reports error {state}"
    if any(_means_gone(cause) for cause in _chain(error)):
        return _GONE
    return Trouble.FAILED, f"{type(error).__name__}: {error}"


def _sqlite_meaning(error: sqlite3.Error) -> tuple[Trouble, str]:
    name = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
    for kind, meaning in _SQLITE.items():
        if name == kind or name.startswith(f"{kind}_"):
            return meaning
    return Trouble.FAILED, str(error)


def _sqlstate(error: BaseException) -> str:
    states = (getattr(cause, "sqlstate", None) for cause in _chain(error))
    return next((state for state in states if isinstance(state, str)), "")


def _means_gone(error: BaseException) -> bool:
    if isinstance(error, OSError | TimeoutError):
        return True
    return type(error).__module__.startswith("asyncpg") and "Connection" in type(error).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what the driver raised, and what led to it."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        original = getattr(cause, "orig", None)
        waiting += [original if isinstance(original, BaseException) else None, cause.__cause__, cause.__context__]

"""The SQLite file of records: made where there is none, refused where it is of another kind."""

import errno
import os
from pathlib import Path

from enfilade.store.errors import NoRecordsError, StoreError, Trouble

MAGIC = b"SQLite format 3\0"
"""What a SQLite file begins with."""

LONGEST_PATH = 500
"""Bytes of a path that SQLite opens for certain: its limit is 512, and it adds endings of its own."""


def prepare_file(file: Path, *, named: bool, make: bool) -> None:
    """Makes the file where there is none, readable by its owner only: it holds whole conversations.

    Args:
        file: The file.
        named: Whether somebody named it; the folder of one that nobody named is made too.
        make: Whether to make it.

    Raises:
        NoRecordsError: It is not there and not to be made.
        StoreError: It cannot be made or read, or is of another kind.
    """
    if (length := len(os.fsencode(file.absolute()))) > LONGEST_PATH:
        raise StoreError(
            f"the store {file} cannot be used: its path has {length} bytes, and SQLite takes {LONGEST_PATH} at most; "
            "name a shorter one in [store] url, or a shorter data folder with ENFILADE_DATA_DIR",
            Trouble.REFUSED,
        )
    if file.is_file():
        _check_kind(file)
        return
    if not make:
        raise NoRecordsError(f"there are no records yet: {file} does not exist; runs make it", Trouble.NOT_A_STORE)
    try:
        if not named:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        reasons = {
            errno.ENOENT: "its folder does not exist; make it",
            errno.EISDIR: "it is a folder; name a file in it",
        }
        reason = reasons.get(error.errno or 0, error.strerror)
        raise StoreError(
            f"the store {file} cannot be made: {reason} (or name another place in [store] url)",
            Trouble.READ_ONLY if error.errno == errno.EROFS else Trouble.REFUSED,
        ) from None


def _check_kind(file: Path) -> None:
    """Refuses a file of another kind; SQLite itself would write over a short one."""
    try:
        with file.open("rb") as content:
            begins = content.read(len(MAGIC))
    except OSError as error:
        raise StoreError(f"the store {file} cannot be read: {error.strerror}", Trouble.REFUSED) from None
    if begins not in (b"", MAGIC):
        raise StoreError(
            f"the store {file} cannot be used: the file is no SQLite database; name another one in [store] url",
            Trouble.NOT_A_STORE,
        )

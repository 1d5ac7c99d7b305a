"""`enfilade runs export`."""

import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TextIO

from enfilade.cli.exit_code import DONE
from enfilade.cli.runs.records import with_records
from enfilade.cli.screen import Screen
from enfilade.store.database import Database
from enfilade.store.export import export_run
from enfilade.store.runs import find_run
from enfilade_sdk.errors import EnfiladeError, ErrorCode


class FileError(EnfiladeError):
    """The file that was named cannot be written."""

    code = ErrorCode.INVALID_PARAMS


def export(run_id: str, output: Path | None, store: str | None, as_json: bool) -> int:
    """Writes a run out as one JSON document."""

    async def exported(database: Database, screen: Screen) -> int:
        found = await find_run(database, run_id)
        async with aclosing(export_run(database, found)) as pieces:
            if output is None:
                async for piece in pieces:
                    screen.result(piece.encode())
            else:
                await _written(pieces, output)
        if output is not None:
            screen.note(f"the run {found} is in {output}")
        return DONE

    return with_records(exported, store, as_json=as_json)


async def _written(pieces: AsyncGenerator[str, None], output: Path) -> None:
    with _new_file(output) as file:
        async for piece in pieces:
            file.write(piece)


@contextmanager
def _new_file(path: Path) -> Iterator[TextIO]:
    """A new file, readable by its owner only; gone again when it cannot be written to its end."""
    try:
        file = open(path, "x", encoding="utf-8", opener=_private)  # noqa: SIM115 - it is closed below
    except FileExistsError:
        raise FileError(f"{path} is there already; name a new file, or remove it") from None
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None
    try:
        with file:
            yield file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FileError(f"cannot write {path}: {error.strerror}") from None
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

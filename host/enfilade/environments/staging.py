"""An installation under way: what it has taken, and how it ends when it is cancelled or the disk is full."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from enfilade.environments.errors import InstallError, Reason, is_full
from enfilade.environments.hold import Hold
from enfilade.environments.sdk import Sdk

_T = TypeVar("_T")


@dataclass(slots=True)
class Staging:
    """What an installation has taken so far; filled in a thread, given back by the task, whatever was cancelled."""

    folder: Path = Path()
    hold: Hold | None = None
    sdk: Sdk | None = None


@contextmanager
def disk_faults(root: Path) -> Iterator[None]:
    """Makes what the system refuses of a file an `InstallError`."""
    try:
        yield
    except OSError as error:
        full = is_full(error)
        if error.filename is None and not full:  # of no file: a caller's broken pipe or timeout
            raise
        raise InstallError(
            Reason.DISK_FULL if full else Reason.STORE,
            f"cannot install into {root}: {error.strerror or error} ({error.filename or 'a file'}); nothing was changed"
            + ("; make room and try again" if full else ""),
        ) from None


async def to_the_end(work: Callable[[], _T]) -> _T:
    """Does blocking work in a thread; when this is cancelled, the work is done before the cancellation goes on."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # the cancellation goes before what it may have raised
        raise

"""Holds on an environment's folder: whoever has one keeps it from being removed, and loses it by dying."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

HOLD_FILE = "hold"
"""The file in an environment's folder that is locked; its content means nothing."""


class Hold:
    """A lock on a folder, shared (it is being made, or a host runs the plugin) or exclusive (it is being removed).

    The kernel drops it when the last process that has the descriptor ends, however that ends.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def fileno(self) -> int:
        """The descriptor, for a child that shall keep the hold too.

        Raises:
            ValueError: It was released.
        """
        if self._descriptor is None:
            raise ValueError("this hold was released")
        return self._descriptor

    def share(self) -> None:
        """Makes an exclusive hold a shared one."""
        fcntl.flock(self.fileno(), fcntl.LOCK_SH)

    def release(self) -> None:
        """Gives it back; children that were given it keep it until they end. May be called twice."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def take_hold(folder: Path, *, exclusive: bool) -> Hold | None:
    """Takes a hold without waiting; None when somebody else has one that excludes it.

    Args:
        folder: An environment's folder.
        exclusive: To remove it, or to make the file that is locked. A shared hold needs no right to write there.

    Raises:
        OSError: The folder is gone, or cannot be read (written, for an exclusive hold).
    """
    mode = os.O_RDWR | os.O_CREAT if exclusive else os.O_RDONLY
    descriptor = os.open(folder / HOLD_FILE, mode | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return Hold(descriptor)

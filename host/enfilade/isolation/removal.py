"""Takes away what a launch has left: its private directory, whatever is in it, and its control group.

The standard library alone, and little of it, for the guardian imports this by file.
"""

import contextlib
import math
import os
import time

BATCH = 256
"""Names that are read of a folder before they are removed."""

GROUP_SECONDS = 5.0
"""Seconds for the kernel to let go of a control group's processes, which it does in some milliseconds."""

_STEP_SECONDS = 0.002
_OPEN = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OWNERS_RIGHTS = 0o700


def remove_group(path: str) -> None:
    """Ends all that is in a control group and removes it."""
    with contextlib.suppress(OSError), open(f"{path}/cgroup.kill", "w") as file:  # noqa: PTH123 - pathlib is large
        file.write("1")
    deadline = time.monotonic() + GROUP_SECONDS
    while time.monotonic() < deadline:
        try:
            os.rmdir(path)  # noqa: PTH106 - as above
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_STEP_SECONDS)


def remove_tree(directory: str, seconds: float = math.inf) -> bool:
    """Removes a private directory, whatever a hostile plugin has made of it.

    It may be closed to its owner, deeper than any path is long, and full beyond what fits into memory. So what is in an
    inner folder is moved up, folder by folder, and no link is followed.

    Args:
        directory: The directory.
        seconds: When to give up; a little is removed even in none.

    Returns:
        Whether there is nothing left to do: it is gone, or what is in it cannot be removed.
    """
    top = _opened(directory, None)
    if top is None:
        return True
    try:
        done = _Emptying(top, time.monotonic() + seconds).run()
    finally:
        os.close(top)
    if done:
        with contextlib.suppress(OSError):
            os.rmdir(directory)  # noqa: PTH106 - pathlib is large
    return done


class _Emptying:
    """Empties a folder of all that is in it.

    Args:
        top: The folder's descriptor.
        deadline: When to stop, by the monotonic clock.
    """

    def __init__(self, top: int, deadline: float) -> None:
        self._top = top
        self._deadline = deadline
        self._moved = 0
        self._marker = f".{time.time_ns()}."

    def run(self) -> bool:
        """Empties it; gives whether it came to an end before its time was over."""
        while batch := _batch(self._top):
            gone = sum(self._take_away(name, is_folder=is_folder) for name, is_folder in batch)
            if not gone:
                return True
            if time.monotonic() > self._deadline:
                return False
        return True

    def _take_away(self, name: str, *, is_folder: bool) -> int:
        if is_folder:
            return self._flatten(name)
        return _done(os.unlink, name, dir_fd=self._top)

    def _flatten(self, name: str) -> int:
        """Removes an inner folder; the folders in it come up beside it. Gives how much of it went."""
        inner = _opened(name, self._top)
        if inner is None:
            return 0
        gone = 0
        try:
            while batch := _batch(inner):
                went = sum(self._clear(inner, entry, is_folder=is_folder) for entry, is_folder in batch)
                gone += went
                if not went or time.monotonic() > self._deadline:
                    break
        finally:
            os.close(inner)
        return gone + _done(os.rmdir, name, dir_fd=self._top)

    def _clear(self, inner: int, name: str, *, is_folder: bool) -> int:
        if not is_folder:
            return _done(os.unlink, name, dir_fd=inner)
        self._moved += 1
        _done(_unlock, name, inner)  # a folder without rights cannot be moved
        return _done(os.rename, name, f"{self._marker}{self._moved}", src_dir_fd=inner, dst_dir_fd=self._top)


def _done(act, *words, **places) -> int:  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN003 - calls of os
    """1 when it could be done, else 0."""
    try:
        act(*words, **places)
    except OSError:
        return 0
    return 1


def _batch(folder: int) -> list[tuple[str, bool]]:
    """Some of the names in a folder, and whether each is a folder itself."""
    with os.scandir(folder) as entries:
        return [(e.name, e.is_dir(follow_symlinks=False)) for _, e in zip(range(BATCH), entries, strict=False)]


def _opened(name: str, within: int | None) -> int | None:
    """A folder of our own, opened to be emptied; None for what is none, or another's."""
    try:
        _unlock(name, within)
        return os.open(name, os.O_RDONLY | _OPEN, dir_fd=within)
    except OSError:
        return None


def _unlock(name: str, within: int | None) -> None:
    """Gives the owner his rights to a folder back. No link is followed, not even one that comes in between."""
    path_only = getattr(os, "O_PATH", 0)
    folder = os.open(name, path_only | _OPEN, dir_fd=within)
    try:
        if os.fstat(folder).st_mode & _OWNERS_RIGHTS != _OWNERS_RIGHTS:
            os.chmod(f"/proc/self/fd/{folder}" if path_only else folder, _OWNERS_RIGHTS)  # noqa: PTH101
    finally:
        os.close(folder)

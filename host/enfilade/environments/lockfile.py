"""plugins.lock: what is installed, written whole or not at all."""

import fcntl
import json
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic, sleep

from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError, Reason, is_full
from enfilade.environments.folders import Folders

FORMAT = 1
"""The form of the file; raised when an older host could no longer read it rightly."""

PATIENCE = 60.0
"""Seconds to wait for another process that changes the file, which takes milliseconds."""

_PAUSE = 0.01


class LockFile:
    """The file, and the guard under which it is changed."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    def read(self) -> dict[str, PluginEntry]:
        """The installed plugins by canonical name; none when there is no file.

        Raises:
            InstallError: The file cannot be read, or is of a later form.
        """
        path = self._folders.lock_file
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InstallError(Reason.LOCK_FILE, f"cannot read {path}: {error.strerror}") from None
        try:
            values = json.loads(data)
            form = values["format"]
            if form == FORMAT:
                entries = [PluginEntry.from_json(v, self._folders.environments) for v in values["plugins"]]
                return {entry.key: entry for entry in entries}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InstallError(
                Reason.LOCK_FILE,
                f"{path} is damaged ({type(error).__name__}: {error}); restore it from a backup, or remove it and add "
                "the plugins again",
            ) from None
        raise InstallError(
            Reason.LOCK_FILE, f"{path} has form {form!r} and this host reads form {FORMAT}; use a newer host"
        )

    def write(self, entries: Iterable[PluginEntry]) -> None:
        """Puts another content in place of the old, at once. Call it under the guard.

        Raises:
            InstallError: It cannot be written; the old content stands.
        """
        path = self._folders.lock_file
        plugins = [entry.to_json() for entry in sorted(entries, key=lambda entry: entry.key)]
        try:
            _replace(path, json.dumps({"format": FORMAT, "plugins": plugins}, indent=1) + "\n")
        except OSError as error:
            full = is_full(error)
            raise InstallError(
                Reason.DISK_FULL if full else Reason.STORE,
                f"cannot write {path}: {error.strerror}; nothing was changed"
                + ("; make room and try again" if full else ""),
            ) from None

    def guard(self) -> AbstractContextManager[object]:
        """What to hold from reading the file to writing it. Held for milliseconds, never while a tool runs.

        Raises:
            InstallError: The root folder cannot be written, or another process keeps the guard.
        """
        return _Guard(self._folders)


class _Guard(AbstractContextManager[object]):
    """A lock on a file, which the kernel drops when the process ends, however that ends."""

    def __init__(self, folders: Folders) -> None:
        self._root = folders.root
        self._file = folders.guard
        self._descriptor = -1

    def __enter__(self) -> object:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            self._descriptor = _locked(self._file)
        except TimeoutError:
            raise InstallError(
                Reason.STORE,
                f"another process has been changing the plugins in {self._root} for {PATIENCE:g} s; wait for it or "
                "end it",
            ) from None
        except OSError as error:
            raise InstallError(
                Reason.STORE,
                f"cannot write the plugins' folder {self._root}: {error.strerror}; make it writable, or name another "
                "with ENFILADE_PLUGINS_DIR",
            ) from None
        return self

    def __exit__(self, *failure: object) -> None:
        os.close(self._descriptor)


def _locked(path: Path) -> int:
    """Opens and locks a file; others have it for milliseconds, so it is asked for again and again.

    Raises:
        TimeoutError: Somebody else had it all the time.
        OSError: It cannot be opened or locked.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = monotonic() + PATIENCE
    try:
        while not _lock(descriptor):
            if monotonic() > deadline:
                raise TimeoutError
            sleep(_PAUSE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _replace(path: Path, text: str) -> None:
    """Writes a file beside and puts it in place; both are on the disk when this returns."""
    beside = path.with_suffix(".new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

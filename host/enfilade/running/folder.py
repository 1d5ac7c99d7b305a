"""The folder in which one host shows itself; it is swept when the host is dead."""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from enfilade.running.places import PRIVATE

_LOCK = "lock"
_STATUS = "status.json"
_REQUESTS = "requests"
_ANSWERS = "answers"
_NEW = ".new-"

_HALF_MADE_SECONDS = 60.0
"""How old a folder has to be that was never finished, to be swept: a host that makes one takes milliseconds."""

_MOST_BYTES = 4 * 1024 * 1024
"""The largest file that is read here."""


class HostFolder:
    """The folder of one host, locked by it.

    Args:
        path: Where it is.
        lock: The descriptor of its lock, for the host itself; None for those who look.
    """

    def __init__(self, path: Path, lock: int | None = None) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def make(cls, root: Path) -> Self:
        """Makes the folder of this process's host, complete and locked before anybody sees it.

        Raises:
            OSError: It cannot be made.
        """
        root.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        fresh = root / f"{_NEW}{name}"
        fresh.mkdir(mode=PRIVATE)
        lock = None
        try:
            for inner in (_REQUESTS, _ANSWERS):
                (fresh / inner).mkdir(mode=PRIVATE)
            lock = os.open(fresh / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            fresh.rename(root / name)
        except BaseException:
            if lock is not None:
                os.close(lock)
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        return cls(root / name, lock)

    @property
    def pid(self) -> int:
        """The host's process."""
        return int(self.path.name.partition("-")[0])

    def close(self) -> None:
        """Removes it; the host has ended."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def alive(self) -> bool:
        """Whether its host lives."""
        with contextlib.suppress(OSError), _locked(self.path) as locked:
            return not locked
        return False

    def write_status(self, status: Any) -> None:
        """Shows how the host's plugins stand, in one step.

        Raises:
            OSError: It cannot be written.
        """
        _write(self.path / _STATUS, status)

    def status(self) -> dict[str, Any]:
        """How the host's plugins stand; empty when it does not show it (yet, or any more)."""
        return _read(self.path / _STATUS)

    def ask(self, request: dict[str, Any]) -> str:
        """Puts a request; gives its number.

        Raises:
            OSError: It cannot be written.
        """
        number = secrets.token_hex(8)
        _write(self.path / _REQUESTS / f"{number}.json", request)
        return number

    def requests(self) -> list[tuple[str, dict[str, Any]]]:
        """Takes the requests there are, with their numbers."""
        folder = self.path / _REQUESTS
        found = []
        for name in sorted(_names(folder)):
            request = _read(folder / name)
            with contextlib.suppress(OSError):
                (folder / name).unlink()
            found.append((name.removesuffix(".json"), request))
        return found

    def answer(self, number: str, answer: dict[str, Any]) -> None:
        """Says what came of a request.

        Raises:
            OSError: It cannot be written.
        """
        _write(self.path / _ANSWERS / f"{number}.json", answer)

    def answered(self, number: str) -> dict[str, Any] | None:
        """Takes the answer to a request; None when there is none yet."""
        path = self.path / _ANSWERS / f"{number}.json"
        if not path.exists():
            return None
        answer = _read(path)
        with contextlib.suppress(OSError):
            path.unlink()
        return answer


def living_hosts(root: Path) -> list[HostFolder]:
    """The hosts that run, by their numbers; sweeps what dead ones left behind."""
    living = []
    for path in _folders(root):
        folder = HostFolder(path)
        if path.name.startswith(_NEW):
            if _age(path) > _HALF_MADE_SECONDS:
                _sweep(path)
        elif folder.alive:
            living.append(folder)
        else:
            _sweep(path)
    return sorted(living, key=lambda folder: (folder.pid, folder.path.name))


def _folders(root: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [path for path in root.iterdir() if _is_ours(path.name) and path.is_dir() and not path.is_symlink()]
    return []


def _is_ours(name: str) -> bool:
    number, dash, rest = name.removeprefix(_NEW).partition("-")
    return bool(number.isdigit() and dash and rest)


def _age(path: Path) -> float:
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime
    return 0.0


def _sweep(path: Path) -> None:
    with contextlib.suppress(OSError), _locked(path) as locked:
        if locked:
            shutil.rmtree(path, ignore_errors=True)
            return
    if not (path / _LOCK).exists():
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Tries for the lock of a folder; gives whether it was to be had, so that its host is dead."""
    descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _names(folder: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return [entry.name for entry in os.scandir(folder) if entry.name.endswith(".json")]
    return []


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _write(path: Path, value: Any) -> None:
    half = path.with_suffix(".half")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - it takes a descriptor, which a path has not
        json.dump(value, file, ensure_ascii=False)
    half.replace(path)

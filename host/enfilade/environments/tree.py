"""The content of an environment: listed, hashed, and compared with what was installed.

What is covered: every file (its bytes and permission bits) and every link (where it leads), byte code included, for
a changed `.pyc` runs as a changed `.py` does. The interpreter that the environment was made with belongs to the system
and is not.

The trade-off: at each launch every file is looked at, and only those are read again whose size, times of change
(`mtime` and `ctime`), inode or permissions are not as they were when they were last read. A write that keeps size and
`mtime` moves `ctime`, which only the system's clock can set back; so what this misses takes the right to set the clock.
Without any change a check costs a `stat` a file, some milliseconds an environment; after a copy or a restored backup it
costs one reading. The listing and the looks are kept outside the virtual environment, where no sandbox lets a plugin
write.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from enfilade.environments.errors import InstallError, Reason

Files = dict[str, str]
"""What is at each path: `f MODE SHA256` or `l TARGET`."""

Stamps = dict[str, tuple[int, ...]]
"""The look of each path: size, mtime, ctime, inode, mode."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder's content and the look it had when it was read."""

    files: Files
    stamps: Stamps

    @property
    def digest(self) -> str:
        """One hash for all of it."""
        return digest_of(self.files)


def read_tree(root: Path, known: Tree | None = None) -> Tree:
    """Lists a folder.

    Args:
        root: The folder.
        known: What was read earlier; files that look as they did then are not read again.

    Raises:
        InstallError: It cannot be read, or has something that is neither file, folder nor link.
    """
    files: Files = {}
    stamps: Stamps = {}
    try:
        for path, entry in _walk(str(root), ""):
            look = stamps[path] = _look(entry.stat(follow_symlinks=False))
            same = known is not None and known.stamps.get(path) == look and path in known.files
            files[path] = known.files[path] if known is not None and same else _content(entry, look)
    except OSError as error:
        raise InstallError(Reason.DRIFT, f"cannot read {error.filename or root}: {error.strerror}") from None
    return Tree(files, stamps)


def digest_of(files: Mapping[str, str]) -> str:
    """The hash of a listing, whatever its order."""
    lines = "".join(f"{path}\0{files[path]}\0" for path in sorted(files))
    return f"sha256:{hashlib.sha256(lines.encode('utf-8', 'surrogateescape')).hexdigest()}"


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What changed, in words, by path."""
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new:
            changes.append(f"{path} {_change(old, new)}")
    return changes


def _change(old: str | None, new: str | None) -> str:
    if old is None:
        return "was added"
    if new is None:
        return "was removed"
    if old[0] != new[0]:
        return "became a link" if new[0] == "l" else "became a file"
    if old[0] == "f" and old.split(" ")[2] == new.split(" ")[2]:
        return f"had its permissions changed from {old.split(' ')[1]} to {new.split(' ')[1]}"
    return "was changed" if old[0] == "f" else f"leads to {new[2:]} and led to {old[2:]}"


def _walk(folder: str, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, f"{path}/")
            else:
                yield path, entry


def _look(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)


def _content(entry: "os.DirEntry[str]", look: tuple[int, ...]) -> str:
    if stat.S_ISLNK(look[4]):
        return f"l {Path(entry.path).readlink()}"
    if not stat.S_ISREG(look[4]):
        raise InstallError(
            Reason.DRIFT, f"{entry.path} is neither a file, a folder nor a link; an environment has nothing else"
        )
    with Path(entry.path).open("rb") as file:
        return f"f {stat.S_IMODE(look[4]):o} {hashlib.file_digest(file, 'sha256').hexdigest()}"


def save_tree(folder: Path, tree: Tree) -> None:
    """Keeps a listing in an environment's folder, beside its virtual environment.

    Raises:
        OSError: It cannot be written.
    """
    _save(folder / "files.json", tree.files)
    _save(folder / "stamps.json", tree.stamps)


def load_tree(folder: Path, digest: str) -> Tree | None:
    """The kept listing, if it is the one with that hash; looks that cannot be read are none."""
    files, stamps = _load(folder / "files.json"), _load(folder / "stamps.json")
    if not isinstance(files, dict) or not all(isinstance(content, str) for content in files.values()):
        return None
    if digest_of(files) != digest:
        return None
    known = stamps if isinstance(stamps, dict) else {}
    return Tree(files, {path: tuple(look) for path, look in known.items() if isinstance(look, list)})


def _save(path: Path, value: object) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(value), encoding="utf-8")
    beside.replace(path)


def _load(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None

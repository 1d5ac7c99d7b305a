"""The tool `read_file`: texts below one folder, and nothing else."""

import codecs
import mimetypes
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from enfilade.tools.functions.importing import ToolLoadError
from enfilade.tools.names import did_you_mean
from enfilade_sdk.errors import EnfiladeError, ErrorCode, InvalidParamsError

MAX_READ = 48 * 1024
"""Bytes given by one call, so that the text stays below the default limit of a result."""

_MOST_LISTED = 50
_SAMPLE = 4096


class FileFault(EnfiladeError):  # noqa: N818 - it is the fault of what was asked
    """A file cannot be read; the text says why, and names no folder above the one that was given."""

    code = ErrorCode.TOOL_FAILED


class Folder:
    """A folder whose files may be read.

    Args:
        path: The folder; links in its own path are followed once, now.

    Raises:
        ToolLoadError: There is no such folder.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._root = path.expanduser().resolve(strict=True)
        except (OSError, RuntimeError):
            raise ToolLoadError(f"read_file: there is no folder {str(path)!r}") from None
        if not self._root.is_dir():
            raise ToolLoadError(f"read_file: {str(path)!r} is not a folder")

    def read(self, path: str, offset: int = 0) -> str:
        """A part of a text file, with a note where the rest begins; of a folder, what it holds.

        Raises:
            FileFault: It is not there, no text, no ordinary file, or not below the folder.
        """
        parts = self._parts(path)
        shown = "/".join(parts) or "."
        with self._opened(parts, shown) as file:
            found = os.fstat(file)
            if stat.S_ISDIR(found.st_mode):
                return f"{'the folder' if shown == '.' else shown} holds: {_listing(_names(file))}"
            if not stat.S_ISREG(found.st_mode):
                raise FileFault(f"{shown} is not an ordinary file (a device, pipe or socket) and is not read")
            return _text(file, shown, found.st_size, offset)

    def _parts(self, path: str) -> list[str]:
        """The way from the folder to the file, links resolved.

        Raises:
            FileFault: It leads out of the folder.
        """
        if "\0" in path:
            raise InvalidParamsError("a path holds no NUL character")
        try:
            resolved = (self._root / path.strip()).resolve()
            return list(resolved.relative_to(self._root).parts)
        except ValueError:
            raise FileFault(f"{Path(path).name or path!r} is not below the folder that may be read") from None
        except (OSError, RuntimeError):
            raise FileFault(
                f"{Path(path).name!r} cannot be found: its links lead nowhere, or its name is too long"
            ) from None

    @contextmanager
    def _opened(self, parts: list[str], shown: str) -> Iterator[int]:
        """The file, reached step by step without following a link, so that none can be put there meanwhile."""
        place = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for step in parts:
                inner = self._step(place, step, shown)
                os.close(place)
                place = inner
            yield place
        finally:
            os.close(place)

    def _step(self, place: int, step: str, shown: str) -> int:
        try:
            return os.open(step, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
        except FileNotFoundError:
            names = _names(place)
            near = did_you_mean(step, names)
            raise FileFault(f"there is no file {shown!r}.{near or f' There are: {_listing(names)}'}") from None
        except NotADirectoryError:
            raise FileFault(f"there is no file {shown!r}; a part of its path is a file") from None
        except PermissionError:
            raise FileFault(f"{shown!r} may not be read by this user") from None
        except OSError as error:
            raise FileFault(f"{shown!r} cannot be opened: {error.strerror}") from None


def file_reader(folder: Path) -> Callable[..., str]:
    """The function that reads the files of a folder.

    Raises:
        ToolLoadError: There is no such folder.
    """
    root = Folder(folder)

    def read_file(
        path: Annotated[str, "Path of the file, relative to the folder. A folder's path lists what it holds."],
        offset: Annotated[int, "Byte to start from, to go on in a long file."] = 0,
    ) -> str:
        """Reads a text file of the user's folder, or lists a folder in it."""
        return root.read(path, offset)

    return read_file


def _names(folder: int) -> list[str]:
    """What an open folder holds; a path could meanwhile mean another one."""
    with os.scandir(folder) as found:
        return [entry.name for entry in found]


def _listing(names: list[str]) -> str:
    shown = sorted(names)[:_MOST_LISTED]
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(shown) + more if shown else "nothing"


def _text(file: int, shown: str, size: int, offset: int) -> str:
    if offset < 0 or (offset > size > 0):
        raise InvalidParamsError(f"offset {offset:,} is not in {shown}, which has {size:,} bytes")
    sample = os.pread(file, _SAMPLE, 0)
    encoding = _encoding(sample)
    if encoding is None:
        kind = mimetypes.guess_type(shown.rpartition("/")[2])[0] or "binary data"
        raise FileFault(f"{shown} is no text ({kind}, {size:,} bytes) and cannot be read as one")
    data = os.pread(file, MAX_READ, offset)
    text, used = _decoded(data, encoding, final=offset + len(data) >= size)
    if offset == 0:
        text = text.removeprefix("\ufeff")
    notes = [] if encoding != "cp1252" else ["not UTF-8; read as Windows-1252"]
    if offset + used < size:
        notes.append(f"bytes {offset:,} to {offset + used:,} of {size:,}; go on with offset={offset + used}")
    return text + (f"\n[{'; '.join(notes)}]" if notes else "")


def _encoding(sample: bytes) -> str | None:
    """The encoding that a text's first bytes speak for; None where they are no text."""
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in sample:
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        control = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in sample)  # noqa: PLR2004 - the control characters
        return None if control > len(sample) // 100 else "cp1252"
    return "utf-8"


def _decoded(data: bytes, encoding: str, *, final: bool) -> tuple[str, int]:
    """The text of the data, and how many bytes of it were used: none is cut through."""
    if encoding == "utf-16":
        whole = len(data) - len(data) % 2
        return data[:whole].decode("utf-16", "replace"), len(data) if final else whole
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    text = decoder.decode(data, final)
    return text, len(data) - len(decoder.getstate()[0])

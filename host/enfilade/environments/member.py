"""The names in an archive: which of them stay inside the folder that it is unpacked in."""

import re
from collections.abc import Iterable

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnsafeNameError(ValueError):
    """A name that leaves the folder, or means another file on another system."""


def inner_path(name: str) -> str:
    """The path that a member's name means below the folder it is unpacked in, in plain form.

    The rule is about the name alone, never about what is on the disk: what has no `..` and does not begin at a root
    cannot leave, as long as there are no links on the way, and links are refused for themselves.

    Raises:
        UnsafeNameError: The text says why.
    """
    if "\\" in name:
        raise UnsafeNameError("it has a backslash, which separates folders on Windows")
    if _CONTROL.search(name):
        raise UnsafeNameError("it has a control character")
    if name.startswith("/") or _DRIVE.match(name):
        raise UnsafeNameError("it is absolute")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UnsafeNameError("it goes up with '..'")
    if not parts:
        raise UnsafeNameError("it is empty")
    return "/".join(parts)


def check_no_overlap(files: Iterable[str]) -> None:
    """Refuses plain paths that are there twice, or are a file and a folder at once.

    Raises:
        UnsafeNameError: The text names the path.
    """
    seen: set[str] = set()
    for path in files:
        if path in seen:
            raise UnsafeNameError(f"{path} is in it twice")
        seen.add(path)
    for path in seen:
        parts = path.split("/")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in seen:
                raise UnsafeNameError(f"{'/'.join(parts[:end])} is a file and a folder at once")

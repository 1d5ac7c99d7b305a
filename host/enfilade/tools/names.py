"""Tool names that every model endpoint accepts."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MAX_LENGTH = 64
VALID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
"""What OpenAI and those who follow it accept as a function's name."""


def is_valid(name: str) -> bool:
    """Whether a model endpoint accepts the name as it is."""
    return VALID.match(name) is not None


def valid_names(names: Sequence[str]) -> list[str]:
    """Gives each name a valid form, in the same order, no two alike.

    A valid name stays as it is, whatever its neighbours are called. Others lose accents, get `_` for what is not
    allowed, and a short fingerprint where too much was lost to tell them apart.

    Args:
        names: The tools' own names, no two alike.
    """
    taken = {name for name in names if is_valid(name)}
    return [name if is_valid(name) else _take(_mended(name), taken) for name in names]


def _mended(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    mended = re.sub(r"[^a-zA-Z0-9_-]+", "_", ascii_name).strip("_")
    letters = sum(map(str.isalnum, name))
    kept = sum(map(str.isalnum, mended))
    if kept * 2 < letters or not mended:
        mended = f"{mended or 'tool'}_{_fingerprint(name)}"
    if len(mended) > MAX_LENGTH:
        mended = f"{mended[: MAX_LENGTH - 9]}_{_fingerprint(name)}"
    return mended


def _fingerprint(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _take(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        end = f"_{number}"
        free = name[: MAX_LENGTH - len(end)] + end
        number += 1
    taken.add(free)
    return free


def near(name: str, names: Iterable[str], *, most: int = 3) -> list[str]:
    """The names that are most like the given one, nearest first; none where none is alike."""
    by_lower = {other.lower(): other for other in names}
    found = get_close_matches(name.lower(), by_lower, n=most, cutoff=0.6)
    return [by_lower[match] for match in found]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """` Did you mean 'x' or 'y'?`, or nothing where no name is alike."""
    matches = near(name, names)
    return f" Did you mean {' or '.join(map(repr, matches))}?" if matches else ""

"""One tool call while its deltas are still coming in."""

import itertools
import json
import re
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from enfilade.models.arguments import Arguments, read_arguments
from enfilade.models.surrogates import mended
from enfilade_sdk.markup.prefixes import without_prefix
from enfilade_sdk.markup.strict import parse_object

_OTHER_KEYS = ("parameters", "args", "input")
_NUMBERED = re.compile(r":\d{1,6}\Z")
_MAX_NAME_PIECES = 64


class Entry(NamedTuple):
    """One delta of a tool call, in plain terms whatever shape it came in.

    Attributes:
        place: The index the server gave it; None when it gave none that can be used.
        id: The call's id, empty when none came.
        name: The name or a piece of it, empty when none came.
        arguments: Text, an object or whatever came; None and empty text are nothing.
    """

    place: int | str | None
    id: str
    name: str
    arguments: Any

    @property
    def has_arguments(self) -> bool:
        """Whether there is any argument text or value in it."""
        return self.arguments is not None and self.arguments != ""

    @property
    def starts_object(self) -> bool:
        """Whether its arguments look like the start of an object, not the middle of one."""
        return not isinstance(self.arguments, str) or self.arguments.lstrip().startswith("{")


def entry_of(raw: Any) -> Entry | None:
    """Reads a delta; None for what is none. The `function` shell may be missing."""
    if not isinstance(raw, dict):
        return None
    function = raw.get("function")
    shell = function if isinstance(function, dict) else raw
    arguments = shell.get("arguments")
    if arguments is None:
        arguments = next((shell[key] for key in _OTHER_KEYS if shell.get(key) is not None), None)
    name = shell.get("name")
    return Entry(_index(raw.get("index")), _id(raw.get("id")), mended(name) if isinstance(name, str) else "", arguments)


def _index(value: Any) -> int | str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() else value or None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def _id(value: Any) -> str:
    return mended(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else ""


class Draft:
    """A call being put together.

    Args:
        position: Its place in the order of opening.
        index: The index it was opened with.
    """

    __slots__ = ("_depth", "_scanned", "_state", "id", "index", "names", "pieces", "position")

    def __init__(self, position: int, index: int | str | None) -> None:
        self.position = position
        self.index = index
        self.id = ""
        self.names: list[str] = []
        self.pieces: list[Any] = []
        self._depth = 0
        self._scanned = 0
        self._state: Literal["before", "inside", "string", "escape", "after", "broken"] = "before"

    def take(self, entry: Entry) -> None:
        """Adds what a delta says; the first id stays."""
        if entry.id and not self.id:
            self.id = entry.id
        if entry.name and len(self.names) < _MAX_NAME_PIECES:
            self.names.append(entry.name)
        if entry.has_arguments:
            self.pieces.append(entry.arguments)

    @property
    def complete(self) -> bool:
        """Whether its arguments are one whole object by now. Asking after each delta costs linear time in all."""
        if not self.pieces:
            return False
        if isinstance(self.pieces[-1], dict):
            return True
        self._scan()
        return self._state == "after" and parse_object(self._text()) is not None

    def resent_by(self, entry: Entry, *, grown: bool) -> bool:
        """Whether a delta only repeats the arguments there are (or, with `grown`, more of the same)."""
        ours = read_arguments(self.pieces).parsed
        theirs = read_arguments([entry.arguments]).parsed
        if ours is None or theirs is None:
            return bool(entry.arguments == self._text())
        return theirs == ours or (grown and _overlap(ours, theirs) and read_arguments([ours, theirs]).parsed == theirs)

    def name(self, known: Collection[str]) -> str:
        """Its name as far as it came."""
        return settled_name(self.names, known)

    def arguments(self, *, cut: bool) -> Arguments:
        """Its arguments as far as they came."""
        return read_arguments(self.pieces, cut=cut)

    def _text(self) -> str:
        return "".join(piece if isinstance(piece, str) else json.dumps(piece) for piece in self.pieces)

    def _scan(self) -> None:
        """Follows brackets and strings through the pieces that came since the last look."""
        for piece in self.pieces[self._scanned :]:
            for char in piece if isinstance(piece, str) else json.dumps(piece):
                self._step(char)
        self._scanned = len(self.pieces)

    def _step(self, char: str) -> None:
        if self._state == "escape":
            self._state = "string"
        elif self._state == "string":
            if char in '\\"':
                self._state = "escape" if char == "\\" else "inside"
        elif char in "{[" and self._state in ("before", "inside"):
            self._depth += 1
            self._state = "inside"
        elif char in "}]" and self._state == "inside":
            self._depth -= 1
            self._state = "inside" if self._depth else "after"
        elif char == '"' and self._state == "inside":
            self._state = "string"
        elif self._state in ("before", "after") and not char.isspace():
            self._state = "broken"


def _overlap(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return not ours or not ours.keys().isdisjoint(theirs)


def settled_name(pieces: Sequence[str], known: Collection[str]) -> str:
    """The name that pieces make: joined, where a piece equal to the name so far is a repeat.

    The known tools settle doubt: the first reading that is one of them is right.
    """
    if not pieces:
        return ""
    joined = ""
    for piece in pieces:
        if piece != joined:
            joined += piece
    readings = (joined, "".join(pieces), pieces[-1], pieces[0])
    for reading in readings:
        if reading in known:
            return reading
    for reading in readings:
        bare = _bare(reading)
        if bare in known:
            return bare
    growing = all(later.startswith(earlier) for earlier, later in itertools.pairwise(pieces))
    return (pieces[-1] if growing else joined).strip()


def _bare(name: str) -> str:
    """The name in `functions.search:0` (Kimi), `search<|channel|>commentary` (gpt-oss), `"search"`, `search()`."""
    plain = name.partition("<|")[0].strip(" \t\r\n\"'`*").removesuffix("()")
    return _NUMBERED.sub("", without_prefix(plain))

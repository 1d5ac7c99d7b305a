"""Where a string ends, also when quotes inside it were not escaped."""

import re
from enum import Enum, auto

from enfilade_cot.grammar import Grammar
from enfilade_cot.labels import Hold
from enfilade_cot.spacing import space_end

OPENERS = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "`": "`"}
"""Quotes and what closes them."""

LOOK_AHEAD = 256
"""White space and key characters that are looked at after a quote; further on, the quote closes."""

_QUOTED_KEY = re.compile(
    "|".join(rf"{re.escape(a)}(?:[^{re.escape(b)}\\]|\\.){{0,{LOOK_AHEAD}}}" for a, b in OPENERS.items() if a != "`"),
    re.DOTALL,
)
_BARE_KEY = re.compile(rf"[^\W\d][\w-]{{0,{LOOK_AHEAD}}}")
_VALUE = re.compile(r"[\"'\u201c\u2018{\[\]\d-]|(?:true|false|null|None)\b", re.IGNORECASE)
_VALUE_START = re.compile(r"(?:t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?|o(?:ne?)?)?)?\Z", re.IGNORECASE)


_AFTER_HASH = ("", " ", "\t")
_ENDS = ("```", "~~~", "</")


class Place(Enum):
    """What a string is."""

    KEY = auto()
    IN_OBJECT = auto()
    IN_LIST = auto()
    ALONE = auto()


class Quoting:
    """Tells a quote that closes a string from one that belongs to its text.

    A quote closes where the text after it goes on as JSON would: strictly valid JSON is always read as it stands.

    Args:
        grammar: Finds the labels that may follow an object without its last brackets; None where none can.
        colons: What stands between a key and its value.
    """

    def __init__(self, grammar: Grammar | None, colons: frozenset[str]) -> None:
        self._grammar = grammar
        self._colons = colons

    def closes(self, text: str, after: int, place: Place, *, eof: bool) -> bool | None:
        """Whether the quote right before `after` closes its string.

        Args:
            text: The text; it may go on later, unless `eof`.
            after: Where the text after the quote starts.
            place: What the string is.
            eof: Whether the text is complete.

        Returns:
            None while more text is needed.
        """
        if place in (Place.KEY, Place.ALONE):
            return True
        at = space_end(text, after, LOOK_AHEAD)
        if at == len(text):
            return True if eof or at - after >= LOOK_AHEAD else None
        if at - after >= LOOK_AHEAD or text[at] in "}]":
            return True
        if text[at] in "/#":
            return _comment(text, at, eof=eof)
        if text[at] in ",\uff0c":
            return self._comma(text, at + 1, place, eof=eof)
        if any(c in text[after:at] for c in "\n\r"):
            return self._next_line(text, at, place, eof=eof)
        return None if not eof and "</".startswith(text[at:]) else text.startswith("</", at)

    def _comma(self, text: str, after: int, place: Place, *, eof: bool) -> bool | None:
        at = space_end(text, after, LOOK_AHEAD)
        if at == len(text):
            return True if eof or at - after >= LOOK_AHEAD else None
        if at - after >= LOOK_AHEAD or text[at] in "}]":
            return True
        if text[at] in "/#":
            return _comment(text, at, eof=eof)
        if place is Place.IN_LIST:
            if _VALUE.match(text, at):
                return True
            return None if not eof and _VALUE_START.match(text, at) else False
        return self._key(text, at, eof=eof)

    def _next_line(self, text: str, at: int, place: Place, *, eof: bool) -> bool | None:
        """After a line break: a closing fence, a tag, a label (brackets are missing), or a key (a comma is missing)."""
        if text.startswith(_ENDS, at):
            return True
        if not eof and any(end.startswith(text[at : at + len(end)]) for end in _ENDS):
            return None
        label = self._grammar.match(text, at, eof=eof) if self._grammar else None
        if label is Hold.MORE:
            return None
        if label is not None:
            return True
        return self._key(text, at, eof=eof) if place is Place.IN_OBJECT and text[at] in OPENERS else False

    def _key(self, text: str, at: int, *, eof: bool) -> bool | None:
        """Whether a key and its colon stand at `at`."""
        quoted = text[at] in OPENERS
        found = (_QUOTED_KEY if quoted else _BARE_KEY).match(text, at)
        if found is None:
            return False
        end = found.end()
        if end - at > LOOK_AHEAD:
            return True
        if quoted:
            if end + (text[end : end + 1] == "\\") >= len(text):
                return False if eof else None
            end += 1
        colon = space_end(text, end, LOOK_AHEAD)
        if colon == len(text):
            return False if eof else None
        return text[colon] in self._colons or colon - end >= LOOK_AHEAD


def _comment(text: str, at: int, *, eof: bool) -> bool | None:
    """Whether a comment begins: `//`, `/*`, or `#` with a blank behind it."""
    if text[at] == "#":
        return None if at + 1 == len(text) and not eof else text[at + 1 : at + 2] in _AFTER_HASH
    if at + 1 == len(text) and not eof:
        return None
    return text[at + 1 : at + 2] in ("/", "*")

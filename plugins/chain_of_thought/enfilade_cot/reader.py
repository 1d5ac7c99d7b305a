"""Reads JSON, and what models write for JSON, as it arrives."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from enfilade_cot.blanks import Blanks
from enfilade_cot.events import Json
from enfilade_cot.grammar import Grammar
from enfilade_cot.labels import Hold
from enfilade_cot.quotes import OPENERS, Place, Quoting
from enfilade_cot.scalars import scalar
from enfilade_cot.spacing import trim
from enfilade_cot.strings import TRIPLE, StringReader, is_triple

MAX_DEPTH = 100
"""Objects and lists within one another."""

MAX_WORD = 400
"""Characters of a word or number without quotes."""

_BARE = re.compile("[^\\s,:=\uff0c\uff1a\ufe55\ufe13{}\\[\\]\"'\u201c\u201d\u2018\u2019`]+")
_COMMAS = frozenset(",\uff0c")
_CLOSERS = {"{": "}", "[": "]"}


class Status(Enum):
    """How far the reading is."""

    READING = auto()
    DONE = auto()
    BROKEN = auto()


@dataclass(slots=True)
class Frame:
    """An object or list that is still open.

    Attributes:
        items: What is in it so far.
        key: The key whose value comes next.
        doubled: Whether it began with two braces, as in a template, and the first of the closing two is to come.
    """

    items: dict[str, Json] | list[Json]
    key: str = ""
    doubled: bool = False


_Mode = Callable[[str, int, bool], int]
_WAIT = -1


class Reader:
    """Reads one value.

    Beside JSON it takes single, typographic and triple quotes, Python's and JavaScript's constants, keys and words
    without quotes, full-width colons and commas, missing and trailing commas, comments, raw line breaks and
    unescaped quotes in strings.

    Args:
        grammar: Finds labels, which end an object without its last brackets; None where none can follow.
        strict: Take quoted keys, quoted strings, constants and numbers only, and let every quote close its string.
        assign: Let `=` stand for a colon, as in the arguments of a call.
        tap: Asked before each string that is a value in an object; on True its text goes to `pieces` as it comes.

    Attributes:
        status: How far it is.
        value: What was read, once the status is DONE.
        frames: What is open, outermost first.
        first_key: The first key that was read, once its colon was.
        pieces: Text of the string that the tap asked for, since `pieces` was last emptied.
        tapped: Whether the tap has asked for a string.
    """

    def __init__(
        self,
        grammar: Grammar | None = None,
        *,
        strict: bool = False,
        assign: bool = False,
        tap: "Callable[[Reader, int], bool] | None" = None,
    ) -> None:
        self.status = Status.READING
        self.value: Json = None
        self.frames: list[Frame] = []
        self.first_key: str | None = None
        self.pieces: list[str] = []
        self.tapped = False
        self._grammar = grammar
        self._strict = strict
        self._colons = frozenset(":=\uff1a\ufe55\ufe13" if assign else ":\uff1a\ufe55\ufe13")
        self._quoting = None if strict else Quoting(grammar, self._colons)
        self._tap = tap
        self._mode: _Mode = self._before_value
        self._blanks = Blanks(comments=not strict)
        self._between = frozenset(
            (
                self._before_value,
                self._before_item_or_end,
                self._before_key_or_end,
                self._before_colon,
                self._after_item,
            )
        )
        self._string: StringReader | None = None
        self._streamed = False
        self._word = ""
        self._word_is_key = False

    @property
    def closable(self) -> bool:
        """Whether nothing but closing brackets is missing; after a comma, more is."""
        return bool(self.frames) and self._mode == self._after_item

    @property
    def in_string(self) -> bool:
        """Whether a string is open."""
        return self._string is not None

    @property
    def plain_closer(self) -> str | None:
        """What ends the string that is open, if it is a value in single quotes; its text may then be passed on."""
        string = self._string
        return string.closer if string is not None and string.plain else None

    @property
    def streaming(self) -> bool:
        """Whether the string that is open is the one the tap asked for."""
        return self._streamed and self._string is not None

    def pass_plain(self, text: str) -> None:
        """Takes text of the open string, without its closing quote and without a backslash."""
        if self._string is not None:
            self._string.pieces.append(text)

    def advance(self, text: str, at: int, *, eof: bool) -> int:
        """Reads on.

        Args:
            text: The text; it may go on later, unless `eof`.
            at: Where to go on.
            eof: Whether the text is complete.

        Returns:
            Up to where it read; the caller gives what is left again, with more text behind it.
        """
        while self.status is Status.READING and at < len(text):
            if self._mode in self._between:
                at = self._blanks.skip(text, at, eof=eof)
                if self._blanks.waiting or at == len(text):
                    break
            new = self._mode(text, at, eof)
            if new == _WAIT:
                break
            at = new
        if eof and self._mode == self._in_word and at == len(text):
            self._end_word()
        return at

    def close(self) -> bool:
        """Closes what is open, where only brackets are missing; False where more is."""
        if not self.closable:
            return False
        while self.frames:
            self._pop()
        return True

    def _break(self, at: int) -> int:
        self.status = Status.BROKEN
        return at

    # ------------------------------------------------------------ values

    def _before_value(self, text: str, at: int, eof: bool) -> int:
        return self._value(text, at, eof=eof)

    def _before_item_or_end(self, text: str, at: int, eof: bool) -> int:
        if text[at] == "]":
            self._pop()
            return at + 1
        return self._value(text, at, eof=eof)

    def _value(self, text: str, at: int, *, eof: bool) -> int:
        first = text[at]
        if first in _CLOSERS:
            if len(self.frames) >= MAX_DEPTH:
                return self._break(at)
            self.frames.append(Frame({} if first == "{" else []))
            self._mode = self._before_key_or_end if first == "{" else self._before_item_or_end
            return at + 1
        if first in OPENERS and (first != "`" or not self._strict):
            return self._open_string(text, at, eof=eof)
        return self._open_word(at) if _BARE.match(text, at) else self._break(at)

    def _add(self, value: Json) -> None:
        if not self.frames:
            self.value = value
            self.status = Status.DONE
            return
        frame = self.frames[-1]
        if isinstance(frame.items, dict):
            frame.items[frame.key] = value
        else:
            frame.items.append(value)
        self._mode = self._after_item
        self._blanks.fresh = False

    def _pop(self) -> None:
        self._add(self.frames.pop().items)

    # ------------------------------------------------------------ objects and lists

    def _before_key_or_end(self, text: str, at: int, eof: bool) -> int:
        first = text[at]
        if first == "}":
            return self._close_object(at)
        if first == "{" and not (self._strict or self.frames[-1].items or self.frames[-1].doubled):
            self.frames[-1].doubled = True
            return at + 1
        if first in OPENERS and first != "`":
            return self._open_string(text, at, eof=eof)
        if self._strict or not (first.isalpha() or first == "_"):
            return self._break(at)
        if (
            self._blanks.fresh and self._grammar and first.isupper()
        ):  # a key without quotes, or the label after an unclosed object
            label = self._grammar.match(text, at, eof=eof)
            if label is Hold.MORE:
                return _WAIT
            if label is not None:
                return self._break(at)
        return self._open_word(at)

    def _before_colon(self, text: str, at: int, eof: bool) -> int:  # noqa: ARG002 - a mode
        if text[at] not in self._colons:
            return self._break(at)
        if self.first_key is None:
            self.first_key = self.frames[-1].key
        self._mode = self._before_value
        return at + 1

    def _after_item(self, text: str, at: int, eof: bool) -> int:  # noqa: ARG002 - a mode
        is_object = isinstance(self.frames[-1].items, dict)
        if text[at] == ("}" if is_object else "]"):
            return self._close_object(at)
        if text[at] in _COMMAS:
            self._mode = self._before_key_or_end if is_object else self._before_item_or_end
            self._blanks.fresh = False
            return at + 1
        if is_object and self._blanks.fresh and text[at] in OPENERS and text[at] != "`" and not self._strict:
            self._mode = self._before_key_or_end  # a comma is missing
            return at
        return self._break(at)

    def _close_object(self, at: int) -> int:
        if self.frames[-1].doubled:
            self.frames[-1].doubled = False
            self._mode = self._after_item
        else:
            self._pop()
        return at + 1

    def _take_key(self, key: str) -> None:
        self.frames[-1].key = key
        self._mode = self._before_colon

    # ------------------------------------------------------------ strings

    def _open_string(self, text: str, at: int, *, eof: bool) -> int:
        quote = text[at]
        triple = quote in "\"'" and not self._strict and is_triple(text, at, eof=eof)
        if triple is None:
            return _WAIT
        self._string = StringReader(quote, self._place(), self._quoting, triple=triple)
        self._streamed = False
        if self._string.place is Place.IN_OBJECT and not self.tapped and self._tap is not None:
            self._streamed = self.tapped = self._tap(self, at)
        self._mode = self._in_string
        return at + (TRIPLE if triple else 1)

    def _place(self) -> Place:
        if self._mode == self._before_key_or_end:
            return Place.KEY
        if not self.frames:
            return Place.ALONE
        return Place.IN_OBJECT if isinstance(self.frames[-1].items, dict) else Place.IN_LIST

    def _in_string(self, text: str, at: int, eof: bool) -> int:
        string = self._string
        assert string is not None
        new = string.advance(text, at, eof=eof)
        if self._streamed:
            self.pieces += string.pieces
            string.pieces = []
        if string.broken:
            return self._break(new)
        if string.done:
            self._end_string(string)
        return new if new > at or string.done else _WAIT

    def _end_string(self, string: StringReader) -> None:
        self._string = None
        text = "".join(string.pieces)
        if string.place is Place.KEY:
            self._take_key(text)
        else:
            self._add(text)

    # ------------------------------------------------------------ words

    def _open_word(self, at: int) -> int:
        self._word = ""
        self._word_is_key = self._mode == self._before_key_or_end
        self._mode = self._in_word
        return at

    def _in_word(self, text: str, at: int, eof: bool) -> int:  # noqa: ARG002 - a mode
        found = _BARE.match(text, at)
        if found is None:
            self._end_word()
            return at
        room = MAX_WORD - len(self._word)
        self._word += found.group()[:room]
        return found.end() if found.end() - at <= room else self._break(at + room)

    def _end_word(self) -> None:
        if self._word_is_key:
            self._take_key(self._word)
            return
        value = scalar(self._word)
        if self._strict and isinstance(value, str):
            self.status = Status.BROKEN
        else:
            self._add(value)


def read_whole(text: str, *, strict: bool = False, assign: bool = False) -> tuple[bool, Json]:
    """Reads a text that is one value from its first to its last character.

    Args:
        text: The text.
        strict: As in `Reader`.
        assign: As in `Reader`.

    Returns:
        Whether it is one, and the value.
    """
    reader = Reader(strict=strict, assign=assign)
    end = reader.advance(text, 0, eof=True)
    return (True, reader.value) if reader.status is Status.DONE and not trim(text[end:]) else (False, None)

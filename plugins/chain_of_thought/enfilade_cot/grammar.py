"""Finds labels at the start of a line."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Final, NamedTuple

from enfilade_cot.labels import Hold, Kind, Label, LabelSet
from enfilade_cot.spacing import BREAKS, GAP, GAPS, INDENT_LIMIT

COLONS: Final = ":\uff1a\ufe55\ufe13"
COLON: Final = f"[{COLONS}]"
"""Ends a label: the ASCII colon, the full-width one, and their small and vertical forms."""

HEAD_LIMIT: Final = INDENT_LIMIT + 96
"""No label is longer, its indentation and markup included."""


_SHORT = 24
_REMEMBERED = 4096


class Inline(NamedTuple):
    """The words of a label that do not stand at the start of a line.

    Attributes:
        kind: What they would announce there.
        start: Where they start.
        quoted: Whether they are quoted: in back-ticks, quotes, a block quote, a table.
    """

    kind: Kind
    start: int
    quoted: bool


class Grammar:
    """Finds labels; made once for each set of words. Patterns are compiled when they are first needed.

    Args:
        words: The phrases of each kind.
    """

    def __init__(self, words: Mapping[Kind, tuple[str, ...]]) -> None:
        self._words = dict(words)
        self._kinds = {_squeezed(phrase): kind for kind, phrases in words.items() for phrase in phrases}
        self._strict: dict[Kind, tuple[str, ...]] = {
            kind: phrases for kind, phrases in words.items() if kind is not Kind.LOOSE_INPUT
        }
        self._beginnings = {True: _beginnings(words), False: _beginnings(self._strict)}
        self.head = _initial(self._strict, _LETTERS)
        """A pattern that finds a label's first characters, and now and then those of other text."""
        self.loose_head = _initial(words, _LETTERS)
        """The same for labels that count only after the name of an action as well."""
        self._heads: dict[str, Hold | None] = {}
        self._unlike = re.compile(_unlike(words), re.IGNORECASE)
        self._inline_phrases = {p for kind in _INLINE for p in words.get(kind, ())}
        endings = {p[-3:] for p in self._inline_phrases if " " not in p[-3:]} | {"*"}
        endings |= {p.split()[-1] for p in self._inline_phrases}
        looked_for = [re.escape(ending[-3:]) for ending in sorted(endings)] + ["[0-9]"]
        self.before_colon = f"(?:{'|'.join(f'(?<={ending}{COLON})' for ending in looked_for)})"
        """Looks back, from behind a colon, whether `inline` may find something before it."""

    @cached_property
    def _label(self) -> re.Pattern[str]:
        return re.compile(_label(self._strict), re.IGNORECASE)

    @cached_property
    def _loose_label(self) -> re.Pattern[str]:
        return re.compile(_label(self._words), re.IGNORECASE)

    @cached_property
    def _inline(self) -> re.Pattern[str]:
        phrases = _phrases(self._inline_phrases)
        return re.compile(
            rf"(?P<quote>[`\"'>|]{GAP}?)?(?<!\w)(?P<phrase>{phrases})(?:{_NUMBER})?\*{{0,3}}\Z", re.IGNORECASE
        )

    def inline(self, text: str) -> Inline | None:
        """Looks for the words of an action's, an input's or the answer's label at the end of a text."""
        found = self._inline.search(text)
        kind = self._kinds.get(_squeezed(found["phrase"])) if found else None
        if found is None or kind is None or (kind is Kind.ANSWER and found["phrase"][0].islower()):
            return None
        return Inline(kind, found.start("phrase"), found["quote"] is not None)

    def match(self, text: str, at: int, *, eof: bool, loose: bool = False) -> Label | Hold | None:
        """Looks for a label in a line that starts at `at`.

        Args:
            text: Text in which the line may go on later, unless `eof`.
            at: Where the line starts.
            eof: Whether the text is complete.
            loose: Whether the words count that are labels only after the name of an action.

        Returns:
            The label, None when there is none, or `Hold.MORE` while there could still be one.
        """
        if not eof and len(text) - at <= _SHORT and not loose:
            return self._short(text, at)
        return self._match(text, at, eof=eof, loose=loose)

    def _short(self, text: str, at: int) -> Label | Hold | None:
        """A text of one character more each time is looked at again and again: remembers what was not decided."""
        head = text[at:]
        if head in self._heads:
            return self._heads[head]
        found = self._match(text, at, eof=False, loose=False)
        if not isinstance(found, Label):
            if len(self._heads) >= _REMEMBERED:
                self._heads.clear()
            self._heads[head] = found
        return found

    def _match(self, text: str, at: int, *, eof: bool, loose: bool) -> Label | Hold | None:
        if self._unlike.match(text, at):
            return None
        pattern = self._loose_label if loose else self._label
        found = pattern.match(text, at)
        if found is None and eof and len(text) - at <= HEAD_LIMIT:
            found = pattern.match(text[at:] + "\n")
            if found is not None:
                return self._made(found, text[at:], at, eof=True)
        if found is not None:
            return self._made(found, text, 0, eof=eof)
        if not eof and len(text) - at <= HEAD_LIMIT and self._may_begin(text, at, loose=loose):
            return Hold.MORE
        return None

    def _may_begin(self, text: str, at: int, *, loose: bool) -> bool:
        """Whether the text from `at` on can be the beginning of a label; of some that are none it says so too."""
        found = _BEGINNING.match(text, at)
        return found is not None and (found["rest"] is None or _squeezed(found["rest"]) in self._beginnings[loose])

    def _made(self, found: re.Match[str], text: str, shift: int, *, eof: bool) -> Label | Hold | None:
        kind = self._kinds.get(_squeezed(found["phrase"]))
        colon = found["colon"] is not None or found["boxed"] is not None
        if kind is None or not (colon or kind in _WITHOUT_COLON):  # None: letters that only look alike
            return None
        end = min(found.end(), len(text))
        carry = (found["open"] or "") if colon and not found["close"] else ""
        if carry:
            closed = _closed(text, end, carry, eof=eof)
            if closed is Hold.MORE:
                return Hold.MORE
            end, carry = closed
        heading = not colon and kind is not Kind.ANSWER
        tentative = heading or kind in _TENTATIVE or found["bullet"] is not None
        return Label(kind, found.start() + shift, end + shift, found["indent"], tentative, carry)


_WITHOUT_COLON = frozenset({Kind.ANSWER, Kind.ACTION, Kind.INPUT})
_TENTATIVE = frozenset({Kind.ACTIONS, Kind.TOOL})
_INLINE = (Kind.ACTION, Kind.INPUT, Kind.ANSWER)
_LETTERS = 3
"""Letters of a label's start that are looked at before anything else; no label is shorter, save in Chinese."""


def _closed(text: str, end: int, marker: str, *, eof: bool) -> tuple[int, str] | Hold:
    """Takes the closing markup that follows the colon, as in `**Action:** search`."""
    at = end
    while at < min(len(text), end + 2) and text[at] in " \t":
        at += 1
    if text.startswith(marker, at):
        return at + len(marker), ""
    if not eof and len(text) - at < len(marker) and marker.startswith(text[at:]):
        return Hold.MORE
    return end, marker


def _squeezed(phrase: str) -> str:
    return "".join(c for c in phrase.lower() if c.isalpha())


_SIGN = "[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
"""Arrows and pictures, which some models put before their labels."""
_MARKUP = r"\*{1,3}|_{1,3}"
_NUMBER = rf"{GAP}{{0,2}}(?:#?[0-9]{{1,3}}|\([0-9]{{1,3}}\))"
_BULLET = rf"(?P<bullet>[-*+\u2022]){GAP}{{1,4}}"
_ORDINAL = rf"\(?[0-9]{{1,3}}[.)]{GAP}{{0,4}}"
_ALONE = f"(?(number)(?!)|(?(answer)|(?(hashes)|(?(open)|(?!)))))(?=[{BREAKS}])"
"""The end of the line, for labels that need no colon: the answer's, and headings. "Final Answer 42" is none."""
_BOXED = rf"\u3011(?:{GAP}{{0,8}}{COLON}|(?={GAP}{{0,8}}[^{GAPS}{COLONS}]))"
"""The end of a label in lenticular brackets."""
_FIRST = rf"(?:[0-9#*_(+\u2022\u3010-]|{_SIGN})"
_SOME_NUMBER = rf"\(?[0-9]{{0,3}}[.)]?{GAP}{{0,4}}"
_BEGINNING = re.compile(
    rf"{GAP}{{0,{INDENT_LIMIT}}}(?:#{{1,6}}{GAP}{{0,4}})?(?:{_SIGN}\ufe0f?{GAP}{{0,2}})?(?:[-*+\u2022]{GAP}{{0,4}}|{_SOME_NUMBER})"
    rf"[*_\u3010]{{0,3}}"
    rf"{_SOME_NUMBER}(?P<rest>[^\W\d_][\w{GAPS}#()*\u273f\u3011-]*)?\Z"
)
"""A label of any words that may go on behind the end of the text."""


def _phrase(phrase: str) -> str:
    """Its words, joined or apart, with a number between or after them: `Action 2 Input`, `final_answer`."""
    return f"(?:{_NUMBER})?(?:{GAP}|[_-]){{0,3}}".join(map(re.escape, phrase.split()))


def _phrases(phrases: Iterable[str]) -> str:
    return "|".join(_phrase(p) for p in sorted(phrases, key=len, reverse=True)) or "(?!)"


def _label(words: Mapping[Kind, tuple[str, ...]]) -> str:
    """A line's head: blanks, markup, words, markup, colon."""
    others = [p for kind, phrases in words.items() for p in phrases if kind is not Kind.ANSWER]
    phrase = f"(?P<phrase>(?P<answer>{_phrases(words.get(Kind.ANSWER, ()))})|{_phrases(others)})"
    return (
        rf"(?P<indent>{GAP}{{0,{INDENT_LIMIT}}})(?={_initial(words, 1)})(?P<hashes>#{{1,6}}{GAP}{{1,4}})?"
        rf"(?:{_SIGN}\ufe0f?{GAP}{{0,2}})?(?:{_BULLET}|{_ORDINAL})?(?:(?P<open>{_MARKUP})|(?P<box>\u3010))?(?:{_ORDINAL})?{phrase}"
        rf"(?P<number>{_NUMBER})?(?(box)(?P<boxed>{_BOXED})|(?P<close>{_MARKUP}|\u273f)?{GAP}{{0,8}}(?:(?P<colon>{COLON})|{_ALONE}))"
    )


def _initial(words: Mapping[Kind, tuple[str, ...]], letters: int) -> str:
    """What a label can start with, so that other lines are passed over at once."""
    return f"(?:{_FIRST}|{'|'.join(sorted(_initials(words, letters)))})"


def _initials(words: Mapping[Kind, tuple[str, ...]], length: int) -> set[str]:
    return {_squeezed(phrase)[:length] for phrases in words.values() for phrase in phrases}


def _beginnings(words: Mapping[Kind, tuple[str, ...]]) -> set[str]:
    phrases = [_squeezed(phrase) for kind in words.values() for phrase in kind]
    return {phrase[:length] for phrase in phrases for length in range(1, len(phrase) + 1)}


def _unlike(words: Mapping[Kind, tuple[str, ...]]) -> str:
    """A line that starts with other letters than any label, which is most lines."""
    letter = r"[^\W\d_]"
    runs = [f"(?!{'|'.join(sorted(_initials(words, n)))}){letter}{{{n}}}" for n in (3, 2, 1)]
    return f"{GAP}{{0,{INDENT_LIMIT}}}(?:{'|'.join(runs)})"


@cache
def grammar_of(labels: LabelSet) -> Grammar:
    """The compiled patterns of a set of labels, made once in a process."""
    return Grammar(labels.words())

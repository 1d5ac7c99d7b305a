"""Finds labels at the start of a line."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple

from enfilade_cot.forms import Form, chars, choice, maybe, named, sequence, without_names, word
from enfilade_cot.labels import Hold, Kind, Label, LabelSet
from enfilade_cot.spacing import BREAKS, GAP, INDENT_LIMIT

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
    """Finds labels; made once for each set of words.

    Args:
        words: The phrases of each kind.
    """

    def __init__(self, words: Mapping[Kind, tuple[str, ...]]) -> None:
        self._kinds = {_squeezed(phrase): kind for kind, phrases in words.items() for phrase in phrases}
        strict = _label({k: v for k, v in words.items() if k is not Kind.LOOSE_INPUT})
        forms = {False: strict, True: _label(words)}
        self._label = {loose: re.compile(form.whole, re.IGNORECASE) for loose, form in forms.items()}
        self._start = {loose: re.compile(without_names(form.start), re.IGNORECASE) for loose, form in forms.items()}
        self.loose_head = forms[True].whole
        """A pattern of a whole label, those included that count only after the name of an action."""
        self.head = strict.whole
        """A pattern of a whole label."""
        self._heads: dict[str, Hold | None] = {}
        self._unlike = re.compile(_unlike(words), re.IGNORECASE)
        inline = {p for kind in (Kind.ACTION, Kind.INPUT, Kind.ANSWER) for p in words.get(kind, ())}
        phrases = _phrases(inline).whole
        self._inline = re.compile(rf"(?P<quote>[`\"'>|]{GAP}?)?(?<!\w)(?P<phrase>{phrases})\*{{0,3}}\Z", re.IGNORECASE)
        endings = sorted({p[-3:] for p in inline if " " not in p[-3:]} | {p.split()[-1] for p in inline} | {"*"})
        self.before_colon = f"(?:{'|'.join(f'(?<={re.escape(e[-3:])}{COLON})' for e in endings)})"
        """Looks back, from behind a colon, whether `inline` may find something before it."""

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
        found = self._label[loose].match(text, at)
        if found is None and eof and len(text) - at <= HEAD_LIMIT:
            found = self._label[loose].match(text[at:] + "\n")
            if found is not None:
                return self._made(found, text[at:], at, eof=True)
        if found is not None:
            return self._made(found, text, 0, eof=eof)
        if not eof and len(text) - at <= HEAD_LIMIT and self._start[loose].match(text, at):
            return Hold.MORE
        return None

    def _made(self, found: re.Match[str], text: str, shift: int, *, eof: bool) -> Label | Hold | None:
        kind = self._kinds.get(_squeezed(found["phrase"]))
        colon = found["colon"] is not None
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
        tentative = heading or kind is Kind.ACTIONS or found["bullet"] is not None
        return Label(kind, found.start() + shift, end + shift, found["indent"], tentative, carry)


_WITHOUT_COLON = frozenset({Kind.ANSWER, Kind.ACTION, Kind.INPUT})


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


_DIGITS = chars("[0-9]", 1, 3)
_MARKUP = choice(chars(r"\*", 1, 3), chars("_", 1, 3))
_NUMBER = sequence(
    chars(GAP, 0, 2), choice(sequence(chars("#", 0, 1), _DIGITS), sequence(chars(r"\("), _DIGITS, chars(r"\)")))
)
_BULLET = sequence(named("bullet", chars(r"[-*+\u2022]")), chars(GAP, 1, 4))
_ORDINAL = sequence(chars(r"\(", 0, 1), _DIGITS, chars(r"[.)]"), chars(GAP, 0, 4))
_ALONE = Form(f"(?(number)(?!)|(?(answer)|(?(hashes)|(?(open)|(?!)))))(?=[{BREAKS}])", r"\Z")
"""The end of the line, for labels that need no colon: the answer's, and headings. "Final Answer 42" is none."""


def _phrase(phrase: str) -> Form:
    """Its words, joined or apart, with a number between or after them: `Action 2 Input`, `final_answer`."""
    parts = phrase.split()
    forms = [word(parts[0])]
    for part in parts[1:]:
        forms += [maybe(_NUMBER), chars(f"(?:{GAP}|[_-])", 0, 3), word(part)]
    return sequence(*forms)


def _phrases(phrases: Iterable[str]) -> Form:
    return choice(*(_phrase(p) for p in sorted(phrases, key=len, reverse=True)))


def _label(words: Mapping[Kind, tuple[str, ...]]) -> Form:
    """A line's head: blanks, markup, words, markup, colon."""
    others = [p for kind, phrases in words.items() for p in phrases if kind is not Kind.ANSWER]
    return sequence(
        named("indent", chars(GAP, 0, INDENT_LIMIT)),
        Form(_initial(words), r"\Z"),
        maybe(named("hashes", sequence(chars("#", 1, 6), chars(GAP, 1, 4)))),
        maybe(choice(_BULLET, _ORDINAL)),
        maybe(named("open", _MARKUP)),
        maybe(_ORDINAL),
        named("phrase", choice(named("answer", _phrases(words.get(Kind.ANSWER, ()))), _phrases(others))),
        maybe(named("number", _NUMBER)),
        maybe(named("close", _MARKUP)),
        chars(GAP, 0, 8),
        choice(named("colon", chars(COLON)), _ALONE),
    )


def _initial(words: Mapping[Kind, tuple[str, ...]]) -> str:
    """What a label can start with, so that other lines are passed over at once."""
    return f"(?=[0-9#*_(+\u2022-]|{'|'.join(sorted(_initials(words, 1)))})"


def _initials(words: Mapping[Kind, tuple[str, ...]], length: int) -> set[str]:
    return {_squeezed(phrase)[:length] for phrases in words.values() for phrase in phrases}


def _unlike(words: Mapping[Kind, tuple[str, ...]]) -> str:
    """A line that starts with other letters than any label, which is most lines."""
    letter = r"[^\W\d_]"
    runs = [f"(?!{'|'.join(sorted(_initials(words, n)))}){letter}{{{n}}}" for n in (3, 2, 1)]
    return f"{GAP}{{0,{INDENT_LIMIT}}}(?:{'|'.join(runs)})"


@cache
def grammar_of(labels: LabelSet) -> Grammar:
    """The compiled patterns of a set of labels, made once in a process (about 50 ms)."""
    return Grammar(labels.words())

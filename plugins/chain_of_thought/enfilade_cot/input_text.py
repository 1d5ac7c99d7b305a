"""An input that is text: a sentence, a query, code."""

import re

from enfilade_cot.actions import CUT, TOO_LONG
from enfilade_cot.events import Action, Json
from enfilade_cot.fences import closing, opening
from enfilade_cot.held_lines import HeldLines
from enfilade_cot.labels import Hold, Kind, Label
from enfilade_cot.lines import line_pattern
from enfilade_cot.reader import read_whole
from enfilade_cot.spacing import BREAKS, GAP, SPACE, trim, trim_end
from enfilade_cot.tape import Tape
from enfilade_cot.turns import Draft, Fence, ToDrop, ToInputText, Turn

_QUOTED_LINE = re.compile(rf"{SPACE}*(\"(?:[^\"\\{BREAKS}]|\\.)*\"|'[^'{BREAKS}]*'|`[^`{BREAKS}]*`){GAP}*[{BREAKS}]")
"""A first line that is one quoted text, with more lines behind it, which are no part of it."""

_STOP_WORD = 40

_TRIPLES = ('"' * 3, "'" * 3)
_PAIRS = {"`": "`", "'": "'", "\u201c": "\u201d"}


class InputText(HeldLines):
    """Holds the text up to the next label outside code blocks, or up to the end of the block it stands in."""

    def __init__(self, tape: Tape, turn: ToInputText) -> None:
        super().__init__(line_pattern(rf"`{{3}}|~{{3}}|{tape.grammar.head}"), tape.max_object, turn.begun)
        self._draft = turn.draft
        self._outer = turn.fence
        self._inner: Fence | None = None
        self._label_inside: int | None = None  # pieces before the first label in a code block that is still open
        tape.line_start = turn.fence is not None

    def step(self, tape: Tape) -> Turn | None:
        """Reads on; too long a text is an error."""
        turn = super().step(tape)
        if self._size <= tape.max_object:
            return turn
        text = "".join(self._pieces)
        tape.push_back(text[tape.max_object :])
        tape.fail(TOO_LONG, self._draft.raw + text[: tape.max_object])
        return ToDrop()

    def head(self, tape: Tape) -> Turn | Hold | None:
        """A label or the closing line ends it; in a code block within it, neither does."""
        if self._size > tape.max_object:
            return ToDrop()
        fence = self._inner or self._outer
        end = closing(fence, tape.buf, tape.pos, eof=tape.eof) if fence else None
        if end is Hold.MORE:
            return end
        if end is not None and self._inner is None:
            tape.take(end)
            return self._finish(tape, "".join(self._pieces), code=True)
        label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
        inner = opening(tape.buf, tape.pos, eof=tape.eof) if fence is None else None
        if label is Hold.MORE or inner is Hold.MORE:
            return Hold.MORE
        if label is not None and fence is None:
            return self._finish(tape, "".join(self._pieces))
        if end is not None:
            self._inner, self._label_inside = None, None
        elif inner is not None:
            self._inner = inner[0]
        elif label is not None and self._label_inside is None:
            self._label_inside = len(self._pieces)
        tape.line_start = False
        return None

    def ended(self, tape: Tape) -> Turn | None:
        """The reply ends: so does the input, at the label in a block that was never closed if there is one."""
        if self._size > tape.max_object:
            return ToDrop()
        if tape.cut:
            tape.fail(CUT, self._draft.raw + "".join(self._pieces))
            return ToDrop()
        upto = len(self._pieces) if self._label_inside is None else self._label_inside
        rest = "".join(self._pieces[upto:])
        text = "".join(self._pieces[:upto])
        kept = text if self._outer else text[: _before_stop_word(tape, text)]
        turn = self._finish(tape, kept, code=self._outer is not None)
        tape.drop(text[len(kept) :])
        tape.push_back(rest)
        return turn

    def _finish(self, tape: Tape, text: str, *, code: bool = False) -> Turn:
        draft = self._draft
        quoted = None if code else _QUOTED_LINE.match(text)
        value = _code(text) if code else input_value(quoted[1] if quoted else text)
        tape.settle(Action(draft.name, value, draft.raw + text, draft.name in tape.tools))
        if quoted:
            tape.drop(text[quoted.end() :].lstrip())
        return ToDrop()


def input_value(text: str) -> Json:
    """The value of an input that is no object: a number, a constant, a quoted text, else the text itself."""
    text = trim(text)
    if not text:
        return {}
    whole, value = read_whole(text, strict=True)
    if whole and not (isinstance(value, str) and text[0] == "'"):
        return value
    for quotes in _TRIPLES:
        if len(text) >= 2 * len(quotes) and text.startswith(quotes) and text.endswith(quotes):
            return text[len(quotes) : -len(quotes)].strip("\r\n")
    if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and text[-1] not in text[1:-1]:
        return text[1:-1]
    return text


def _before_stop_word(tape: Tape, text: str) -> int:
    """Where the last line starts if it is the stop word without its colon, else the end."""
    line = max(text.rfind("\n"), text.rfind("\r")) + 1
    last = trim_end(text[line:])
    label = tape.grammar.match(last + ":", 0, eof=True) if line and len(last) <= _STOP_WORD else None
    return line if isinstance(label, Label) and label.kind is Kind.OBSERVATION else len(text)


def _code(text: str) -> Json:
    whole, value = read_whole(text, strict=True)
    return value if whole and isinstance(value, dict | list) else text.strip("\r\n") or {}


def finish(tape: Tape, draft: Draft) -> Turn:
    """Gives out an action that has no input but what stood beside its name."""
    value = draft.input if draft.has_input else {}
    tape.settle(Action(draft.name, value, draft.raw, draft.name in tape.tools))
    return ToDrop()

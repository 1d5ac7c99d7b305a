"""A line that names an action, with or without its input."""

import re

from enfilade_cot.actions import CUT, NO_TOOL, TOO_LONG
from enfilade_cot.call_form import NamedCall, read_call
from enfilade_cot.events import Answer
from enfilade_cot.labels import Hold, Kind, Label
from enfilade_cot.names import clean, is_final, is_finish, is_none
from enfilade_cot.quiet import Quiet
from enfilade_cot.shapes import answer_text
from enfilade_cot.spacing import BREAKS, trim
from enfilade_cot.tags import CALL_END
from enfilade_cot.tape import Tape
from enfilade_cot.turns import (
    Draft,
    ToAction,
    ToActionLine,
    ToAnswer,
    ToAwaitInput,
    ToDrop,
    ToInput,
    ToNamedAnswer,
    ToProse,
    Turn,
)

LONGEST = 4096
"""Characters of a line that is no call with brackets."""

_PLAIN = re.compile(rf"[^{BREAKS}:{{\[(\uff1a\ufe55\ufe13]+")
_LINE = re.compile(f"[^{BREAKS}]+")
_WORD = r"[\"'`*]*[\w.-]+[\"'`*]*"
_ONE_WORD = re.compile(rf"\s*{_WORD}\s*(?:\(|:|=|->|=>|\bwith\b|\binput\b)?\s*", re.IGNORECASE)
_CALLING = re.compile(rf"\s*{_WORD}\s?")
_CALLED = re.compile(r"[)\]][\s.;`*\"']{0,32}\Z")
_TAIL = 64


class ActionLine:
    """Reads the line. A call with brackets may go on over several lines."""

    def __init__(self, turn: ToActionLine) -> None:
        self._turn = turn
        self._pieces: list[str] = []
        self._size = 0
        self._tail = ""  # of the line, for looking whether its brackets are closed
        self._calling = False
        self._fresh = False

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Everything is looked at."""
        return None

    def step(self, tape: Tape) -> Turn | None:
        """Reads on."""
        while tape.pos < len(tape.buf):
            turn = self._next(tape)
            if turn is Hold.MORE:
                return None
            if turn is not None:
                return turn
        return self._ended(tape) if tape.eof else None

    @property
    def _line(self) -> str:
        return "".join(self._pieces)

    def _next(self, tape: Tape) -> Turn | Hold | None:
        if self._fresh:
            label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
            if label is not None:
                return label if label is Hold.MORE else self._complete(tape)
            self._fresh = False
        plain = (_LINE if self._calling else _PLAIN).match(tape.buf, tape.pos)
        if plain:
            return self._keep(tape, plain.end())
        first = tape.buf[tape.pos]
        if first in BREAKS:
            return self._break(tape)
        if first in "([":
            self._calling = _CALLING.fullmatch(self._line) is not None
        elif first == "{":
            if _ONE_WORD.fullmatch(self._line):
                return self._object(tape)
        else:
            turn = self._colon(tape)
            if turn is not None:
                return turn
        return self._keep(tape, tape.pos + 1)

    def _keep(self, tape: Tape, end: int) -> Turn | None:
        self._size += end - tape.pos
        piece = tape.take(end)
        self._pieces.append(piece)
        self._tail = (self._tail + piece)[-_TAIL:]
        limit = tape.max_object if self._calling else LONGEST
        if self._size <= limit:
            return None
        line = self._line
        tape.push_back(line[limit:])
        tape.fail(TOO_LONG, self._turn.raw + line[:limit])
        return ToDrop()

    def _break(self, tape: Tape) -> Turn | None:
        if not self._calling or _CALLED.search(self._tail):
            return self._complete(tape)
        self._fresh = True
        return self._keep(tape, tape.pos + 1)

    def _object(self, tape: Tape) -> Turn:
        """The name, and its input right behind it."""
        name = clean(self._line.rstrip(" \t=->:(").removesuffix("with").removesuffix("input"), tape.tools)
        if not name:  # a bullet point before an object
            return ToAction(self._turn.raw + self._line, self._turn.label)
        if name not in tape.tools and is_final(name):
            return ToAnswer()
        return ToInput(Draft(name, self._turn.raw + self._line))

    def _colon(self, tape: Tape) -> Turn | None:
        """A second label on the line: the input's, the answer's, or the action's once more."""
        line = self._line
        if is_final(clean(line, tape.tools)) and clean(line, tape.tools) not in tape.tools:
            tape.take(tape.pos + 1)
            return ToAnswer()
        found = tape.grammar.inline(line)
        if found is None:
            return None
        if found.kind is Kind.INPUT and trim(line[: found.start]):
            call = read_call(line[: found.start], tape.tools)
            raw = self._turn.raw + line + tape.take(tape.pos + 1)
            if call.name:
                return ToNamedAnswer() if _final(call, tape) else ToInput(Draft(call.name, raw))
            tape.fail(NO_TOOL, raw)
            return ToDrop()
        if found.kind is Kind.ACTION and not trim(line[: found.start]):
            raw = self._turn.raw + line + tape.take(tape.pos + 1)
            return ToActionLine(raw, self._turn.label, self._turn.fenced)
        return None

    def _ended(self, tape: Tape) -> Turn:
        if tape.cut and not _CALLED.search(self._tail):
            tape.fail(CUT, self._turn.raw + self._line)
            return ToDrop()
        return self._complete(tape)

    def _complete(self, tape: Tape) -> Turn:
        line = self._line
        tag = CALL_END.search(line) if self._turn.label is None else None
        if tag:
            tape.push_back(line[tag.start() :])
            line = line[: tag.start()]
        return named(tape, self._turn, read_call(line, tape.tools), line)


def named(tape: Tape, turn: ToActionLine, call: NamedCall, line: str) -> Turn:
    """Goes on from the name of an action.

    Args:
        tape: The reply.
        turn: What led to the line.
        call: What the line says.
        line: The line.
    """
    text = turn.raw + line
    known = call.name in tape.tools
    if _final(call, tape):
        if not call.has_input:
            return ToNamedAnswer()
        tape.settle(Answer(trim(answer_text(call.input))))
        return ToDrop()
    is_tool = turn.label is not None and turn.label.kind is Kind.TOOL
    if is_tentative(turn.label) and (not known or (is_tool and call.has_input)):
        return as_text(tape, text, fresh=False)
    if is_none(call.name) and not known:
        tape.drop(text)
        tape.notes.none_named = True
        tape.line_start = False
        return ToProse()
    return ToAwaitInput(Draft(call.name, text, call.input, call.has_input, turn.fenced, is_tool))


def as_text(tape: Tape, text: str, *, fresh: bool) -> Turn:
    """Takes a tentative label back: what followed is no action."""
    tape.think(text)
    tape.line_start = fresh
    return ToProse()


def is_tentative(label: Label | None) -> bool:
    """Whether a label counts only when an action follows."""
    return label is not None and label.tentative


def _final(call: NamedCall, tape: Tape) -> bool:
    return call.name not in tape.tools and (is_final(call.name) or is_finish(call.name))

"""What follows the label of an action."""

import re

from enfilade_cot.action_input import fence_at
from enfilade_cot.action_line import as_text, is_tentative, named
from enfilade_cot.actions import CUT, NO_TOOL, TOO_LONG, given, unreadable
from enfilade_cot.call_form import NamedCall
from enfilade_cot.labels import Hold, Kind, Label
from enfilade_cot.marked import opener_at
from enfilade_cot.names import clean
from enfilade_cot.object_text import ObjectText, Reading
from enfilade_cot.quiet import Quiet
from enfilade_cot.shapes import steps, thought
from enfilade_cot.spacing import BREAKS, space_end
from enfilade_cot.tape import Tape
from enfilade_cot.turns import Draft, ToAction, ToActionLine, ToDrop, ToInput, ToMarked, ToProse, Turn
from enfilade_sdk.markup.kinds import Opener

_SPANNED = re.compile(r"`{1,2}(?=[{\[])")
"""Back-ticks before an object."""


class ActionHead:
    """Reads an object, a list, or a line with a name; what is none of these is an error for the model.

    After a tentative label, and after one with nothing behind it, what is no action is text.
    """

    def __init__(self, turn: ToAction) -> None:
        self._label = turn.label
        self._raw = [turn.raw]
        self._object: ObjectText | None = None
        self._fresh = False
        self._fenced = False

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Strings in an object go by."""
        return self._object.quiet() if self._object else None

    def step(self, tape: Tape) -> Turn | None:
        """Finds out what it is, then reads it."""
        if self._object is not None:
            return self._read(tape, self._object)
        return self._begin(tape)

    @property
    def _text(self) -> str:
        return "".join(self._raw)

    # ------------------------------------------------------------ which form

    def _begin(self, tape: Tape) -> Turn | None:
        end = space_end(tape.buf, tape.pos)
        self._fresh = self._fresh or any(c in tape.buf[tape.pos : end] for c in BREAKS)
        self._raw.append(tape.take(end))
        if tape.pos == len(tape.buf):
            return self._nothing(tape, None) if tape.eof else None
        if self._fresh and not self._fenced:
            label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
            if label is not None:
                return None if label is Hold.MORE else self._nothing(tape, label)
        if tape.buf[tape.pos] in "{[":
            self._object = ObjectText(tape, labelled=True)
            return self._read(tape, self._object)
        return self._other(tape)

    def _other(self, tape: Tape) -> Turn | None:
        """What is no bare object: markup, an object or a call in a code block or in back-ticks, else a line."""
        first = tape.buf[tape.pos]
        if first == "<" and tape.menu and self._label is not None:
            opener = opener_at(tape.buf, tape.pos, eof=tape.eof)
            if isinstance(opener, Opener):
                tape.take(tape.pos + len(opener.text))
                return ToMarked(opener, fresh=True)
            return None if opener is Hold.MORE else self._line
        return self._fence(tape) if first in "`~" and not self._fenced else self._line

    def _fence(self, tape: Tape) -> Turn | None:
        spanned = _SPANNED.match(tape.buf, tape.pos)
        if spanned is not None:
            self._raw.append(tape.take(spanned.end()))
            return self._begin(tape)
        fence = fence_at(tape)
        if fence is Hold.MORE:
            return None
        if fence is not None and fence["break"] and fence["info"] in tape.tools:
            return ToInput(Draft(fence["info"], self._text))
        if fence is not None and fence["info"] not in tape.tools:
            self._fenced = True
            self._raw.append(tape.take(fence.end()))
            return self._begin(tape)
        return self._line

    @property
    def _line(self) -> ToActionLine:
        return ToActionLine(self._text, self._label, self._fenced)

    def _nothing(self, tape: Tape, label: Label | None) -> Turn:
        """The label stands alone."""
        text = self._text
        if is_tentative(self._label):
            return as_text(tape, text, fresh=self._fresh)
        if label is None or label.kind in (Kind.OBSERVATION, Kind.INPUT):
            tape.fail(CUT if tape.eof and tape.cut else NO_TOOL, text)
            return ToDrop()
        tape.drop(text)
        tape.line_start = True
        return ToProse()

    # ------------------------------------------------------------ an object

    def _read(self, tape: Tape, text: ObjectText) -> Turn | None:
        reading = text.read()
        if text.answered:
            return ToDrop() if reading is not Reading.MORE or tape.eof else None
        if reading is Reading.TOO_LONG:
            tape.fail(TOO_LONG, self._text + text.cut_to_size())
            return ToDrop()
        if reading is Reading.BROKEN:
            lacks = text.lacks_brackets()
            if lacks is None:
                return None
            reading = Reading.DONE if lacks else reading
        if reading is Reading.MORE:
            if not tape.eof:
                return None
            reading = Reading.DONE if not tape.cut and text.reader.close() else Reading.BROKEN
        return self._whole(tape, text) if reading is Reading.DONE else self._broken(tape, text)

    def _broken(self, tape: Tape, text: ObjectText) -> Turn:
        self._raw.append(text.text)
        if is_tentative(self._label):
            return as_text(tape, self._text, fresh=False)
        tape.fail(CUT if tape.eof and tape.cut else unreadable(text.reader), self._text)
        return ToDrop()

    def _whole(self, tape: Tape, text: ObjectText) -> Turn | None:
        value = text.reader.value
        turn = ToActionLine(self._text, self._label, self._fenced)
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            return named(tape, turn, NamedCall(clean(value[0], tape.tools)), text.text)
        found = [] if value == [] else steps(value, tape.tools, labelled=True)
        if found == []:
            return named(tape, turn, NamedCall(""), text.text)
        self._raw.append(text.text)
        if is_tentative(self._label) and not any(s.final or s.name in tape.tools for s in found or ()):
            return as_text(tape, self._text, fresh=False)
        if found is None:
            tape.fail(NO_TOOL, self._text)
            return ToDrop()
        tape.think(thought(value))
        for event in given(found, self._text, tape.tools):
            tape.settle(event)
        return ToDrop()

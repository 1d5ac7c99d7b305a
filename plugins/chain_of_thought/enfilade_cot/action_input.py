"""The input of an action whose name is known."""

import re

from enfilade_cot.action_line import as_text
from enfilade_cot.actions import CUT, TOO_LONG, unreadable
from enfilade_cot.events import Action
from enfilade_cot.fences import closing
from enfilade_cot.input_text import finish
from enfilade_cot.labels import Hold, Kind, Label
from enfilade_cot.lines import Lines, line_pattern
from enfilade_cot.object_text import ObjectText, Reading
from enfilade_cot.quiet import Quiet
from enfilade_cot.spacing import BREAKS, GAP, space_end
from enfilade_cot.tape import Tape
from enfilade_cot.turns import Fence, ToAwaitInput, ToDrop, ToInput, ToInputText, Turn

FENCE = re.compile(rf"(?P<row>`{{3,16}}|~{{3,16}})(?P<info>[\w+.-]{{0,30}}){GAP}{{0,8}}(?P<break>[{BREAKS}]?)")
"""An opening fence where an action or an input is expected; its content may stand on the same line."""

FENCE_LENGTH = 3

_FENCE_START = re.compile(rf"(?:`{{1,2}}|~{{1,2}}|(?:`{{3,16}}|~{{3,16}})[\w+.-]{{0,30}}{GAP}{{0,8}})\Z")


def fence_at(tape: Tape) -> re.Match[str] | Hold | None:
    """Looks for an opening fence at the place."""
    if not tape.eof and _FENCE_START.match(tape.buf, tape.pos):
        return Hold.MORE
    return FENCE.match(tape.buf, tape.pos)


class AwaitInput(Lines):
    """The lines after the name: the label of the input, the input itself without a label, or something else."""

    def __init__(self, tape: Tape, turn: ToAwaitInput) -> None:
        super().__init__(line_pattern(tape.grammar.loose_head))
        self._draft = turn.draft
        self._said = False
        self._looked = False
        tape.line_start = True

    def head(self, tape: Tape) -> Turn | Hold | None:
        """A label, or an object."""
        if not self._said:
            self._draft.raw += tape.take(space_end(tape.buf, tape.pos))
            if tape.pos == len(tape.buf):
                return None
            if self._draft.fenced and not self._looked:
                return self._close_fence(tape)
        return self._label(tape)

    def _label(self, tape: Tape) -> Turn | Hold | None:
        label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof, loose=True)
        if label is Hold.MORE:
            return label
        if label is not None and label.kind in (Kind.INPUT, Kind.LOOSE_INPUT):
            self._draft.raw += tape.take(label.end)
            return ToInput(self._draft)
        return self._plain(tape) if label is None else self._other(tape, label)

    def _plain(self, tape: Tape) -> Turn | Hold | None:
        """A line without a label: the input itself, or something that is none."""
        if not self._said and not self._draft.has_input:
            fence = fence_at(tape)
            if fence is Hold.MORE:
                return fence
            if tape.buf[tape.pos] == "{" or (fence and fence["break"]):
                return ToInput(self._draft)
        if self._draft.tentative:
            return as_text(tape, self._draft.raw, fresh=True)
        self._said = True
        tape.line_start = False
        return None

    def _other(self, tape: Tape, label: Label) -> Turn | None:
        """The label of something else: no input follows, unless it is a thought that stands between name and input."""
        if self._draft.tentative:
            return as_text(tape, self._draft.raw, fresh=True)
        if label.kind is not Kind.THOUGHT or self._draft.has_input:
            return finish(tape, self._draft)
        self._said = True
        self.say(tape, label.end)
        tape.line_start = False
        return None

    def _close_fence(self, tape: Tape) -> Hold | None:
        char = tape.buf[tape.pos]
        end = closing(Fence(char, FENCE_LENGTH, ""), tape.buf, tape.pos, eof=tape.eof) if char in "`~" else None
        if end is Hold.MORE:
            return end
        self._looked = True
        if end is not None:
            self._draft.fenced = False
            self._draft.raw += tape.take(end)
        return None

    def say(self, tape: Tape, end: int) -> None:
        """Text between name and input counts for nothing."""
        tape.drop(tape.take(end))

    def ended(self, tape: Tape) -> Turn | None:
        """No input follows."""
        if self._draft.tentative:
            return as_text(tape, self._draft.raw, fresh=True)
        if tape.cut and not self._draft.has_input:
            tape.fail(CUT, self._draft.raw)
            return ToDrop()
        return finish(tape, self._draft)


class ActionInput:
    """What follows the label of an input: an object, a list, a code block or text."""

    def __init__(self, turn: ToInput) -> None:
        self._draft = turn.draft
        self._object: ObjectText | None = None
        self._fence = Fence("`", FENCE_LENGTH, "") if self._draft.fenced else None
        self._fresh = False
        self._white = ""

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Strings in an object go by."""
        return self._object.quiet() if self._object else None

    def step(self, tape: Tape) -> Turn | None:
        """Finds out what it is, then reads it."""
        return self._begin(tape) if self._object is None else self._read(tape, self._object)

    def _begin(self, tape: Tape) -> Turn | None:
        end = space_end(tape.buf, tape.pos)
        self._fresh = self._fresh or any(c in tape.buf[tape.pos : end] for c in BREAKS)
        self._white += tape.take(end)
        if tape.pos == len(tape.buf):
            return self._empty(tape) if tape.eof else None
        if self._fresh and self._fence is None:
            label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
            if label is not None:
                return None if label is Hold.MORE else self._empty(tape)
        if tape.buf[tape.pos] in "{[":
            self._object = ObjectText(tape, stream=False)
            return self._read(tape, self._object)
        if self._fence is not None:
            return self._text(tape, "")
        return self._fence_or_text(tape)

    def _fence_or_text(self, tape: Tape) -> Turn | None:
        fence = fence_at(tape)
        if fence is Hold.MORE:
            return None
        if fence is None or not (fence["break"] or tape.buf[fence.end() : fence.end() + 1] in ("{", "[")):
            return self._text(tape, "")
        row = fence["row"]
        self._fence = Fence(row[0], len(row), fence["info"].lower())
        if fence["info"] and not fence["break"]:
            self._fence = Fence(row[0], len(row), "")
        self._draft.raw += self._white + tape.take(fence.end())
        self._white = ""
        return self._begin(tape)

    def _text(self, tape: Tape, begun: str) -> Turn:
        """It is text; in a code block its first line keeps its indentation."""
        tape.push_back(begun)
        return ToInputText(self._draft, self._white, self._fence)

    def _empty(self, tape: Tape) -> Turn:
        if tape.eof and tape.cut and tape.pos == len(tape.buf):
            tape.fail(CUT, self._draft.raw)
            return ToDrop()
        return finish(tape, self._draft)

    def _read(self, tape: Tape, text: ObjectText) -> Turn | None:
        reading = text.read()
        if reading is Reading.TOO_LONG:
            tape.fail(TOO_LONG, self._draft.raw + self._white + text.cut_to_size())
            return ToDrop()
        if reading is Reading.BROKEN:
            lacks = text.lacks_brackets()
            if lacks is None:
                return None
            if not lacks:
                return self._broken(tape, text)
            reading = Reading.DONE
        if reading is Reading.MORE:
            return self._unfinished(tape, text) if tape.eof else None
        return self._give(tape, text)

    def _give(self, tape: Tape, text: ObjectText) -> Turn:
        draft = self._draft
        tape.settle(
            Action(draft.name, text.reader.value, draft.raw + self._white + text.text, draft.name in tape.tools)
        )
        return ToDrop()

    def _unfinished(self, tape: Tape, text: ObjectText) -> Turn:
        if not tape.cut and text.reader.close():
            return self._give(tape, text)
        return self._broken(tape, text)

    def _broken(self, tape: Tape, text: ObjectText) -> Turn:
        """Text that only begins like JSON, such as a comprehension or a list of words, is text."""
        if text.reader.first_key is None and not (tape.cut and tape.eof):
            return self._text(tape, text.text)
        tape.fail(CUT if tape.cut and tape.eof else unreadable(text.reader), self._draft.raw + self._white + text.text)
        return ToDrop()

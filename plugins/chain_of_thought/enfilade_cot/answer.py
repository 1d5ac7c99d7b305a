"""The final answer."""

from enfilade_cot.events import Answer
from enfilade_cot.labels import Hold, Kind, Label
from enfilade_cot.object_text import ObjectText, Reading
from enfilade_cot.quiet import Quiet
from enfilade_cot.shapes import answer_text, steps
from enfilade_cot.spacing import space_end, trim
from enfilade_cot.tape import NEAR, Tape
from enfilade_cot.trimmer import Trimmer
from enfilade_cot.turns import ToAnswer, ToDrop, Turn


class FinalAnswer:
    """Everything up to the end of the reply: there is no way back, whatever stands in it.

    Only an object that is itself an action named final answer is opened, as if it stood alone.
    """

    def __init__(self, tape: Tape, turn: ToAnswer) -> None:
        self._trimmer = Trimmer()
        self._object: ObjectText | None = None
        self._begun = turn.begun
        self._until = turn.until
        self._held = ""
        self._opened = bool(turn.until)
        tape.settle(Answer(""))

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Everything goes by, save an object at its start."""
        if self._object is not None and not self._opened:
            return self._object.quiet()
        if not self._opened or self._held:
            return None
        return self._trimmer.quiet("<" if self._until else "")

    def step(self, tape: Tape) -> Turn | None:
        """Gives out what is there."""
        if not self._opened:
            if self._object is None:
                tape.take(space_end(tape.buf, tape.pos))
                if tape.pos == len(tape.buf):
                    return None
            turn = self._open(tape)
            if turn is not None or not self._opened:
                return turn
        text = tape.take(len(tape.buf))
        if self._until:
            return self._up_to_tag(tape, self._held + text)
        self._give(tape, text)
        return None

    def _up_to_tag(self, tape: Tape, text: str) -> Turn | None:
        """Gives the text before the closing tag, and holds what may be the beginning of one."""
        before, tag, rest = text.partition(self._until)
        held = 0 if tag or tape.eof else _beginning(before, self._until)
        self._give(tape, before[: len(before) - held])
        self._held = before[len(before) - held :]
        if not tag:
            return None
        tape.push_back(rest)
        return ToDrop()

    def _give(self, tape: Tape, text: str) -> None:
        text = self._trimmer.feed(text)
        if text:
            tape.settle(Answer(text))

    def _open(self, tape: Tape) -> Turn | None:
        """Looks whether the answer is an action object."""
        if self._object is None:
            if tape.buf[tape.pos] != "{" or self._begun:
                self._opened = True
                self._give(tape, self._begun)
                return None
            self._object = ObjectText(tape)
        text = self._object
        reading = text.read()
        if text.answered:
            return ToDrop() if reading is not Reading.MORE else None
        other = text.is_other
        whole = reading is Reading.DONE or (reading is Reading.MORE and tape.eof and text.reader.close())
        found = steps(text.reader.value, tape.tools, labelled=False) if whole and not other else None
        if found and all(step.final for step in found):
            self._give(tape, trim(answer_text(found[0].input)))
            return ToDrop()
        if other or reading is not Reading.MORE or tape.eof:
            self._opened = True
            self._give(tape, text.text)
        return None


def _beginning(text: str, tag: str) -> int:
    """How many characters at the end of the text may be the beginning of a tag."""
    at = text.rfind("<")
    return len(text) - at if at >= 0 and tag.startswith(text[at:]) else 0


class NamedAnswer:
    """What follows the line `Action: Final Answer`: the label of its input, if there is one, and the answer.

    A text in quotes is opened; anything else is the answer as it stands.
    """

    def __init__(self, tape: Tape) -> None:
        self._object: ObjectText | None = None
        self._labelled = False
        tape.line_start = True

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Strings in an object go by."""
        return self._object.quiet() if self._object else None

    def step(self, tape: Tape) -> Turn | None:
        """Looks for the label, then for a quote."""
        if self._object is None:
            tape.take(space_end(tape.buf, tape.pos))
            if tape.pos == len(tape.buf):
                return ToAnswer() if tape.eof else None
            if not self._labelled:
                label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof, loose=True)
                if label is Hold.MORE:
                    return None
                self._labelled = True
                if label and label.kind is Kind.OBSERVATION:
                    tape.settle(Answer(""))
                    return ToDrop()
                if label and label.kind in (Kind.INPUT, Kind.LOOSE_INPUT, Kind.ANSWER, Kind.MAYBE_ANSWER):
                    tape.take(label.end)
                    return None if tape.pos == len(tape.buf) and not tape.eof else self.step(tape)
            if tape.buf[tape.pos] not in '"{':
                return ToAnswer()
            self._object = ObjectText(tape, stream=False)
        return self._read(tape, self._object)

    def _read(self, tape: Tape, text: ObjectText) -> Turn | None:
        reading = text.read()
        if reading is Reading.MORE and not tape.eof:
            return None
        if reading is not Reading.DONE:
            return self._as_it_stands(tape, text)
        ink = space_end(tape.buf, tape.pos, NEAR)
        label: Label | Hold | None = Hold.MORE
        if ink < len(tape.buf):
            label = tape.grammar.match(tape.buf, ink, eof=tape.eof)
        if label is Hold.MORE and not tape.eof and ink - tape.pos < NEAR:
            return None
        if label is None:
            return self._as_it_stands(tape, text)
        tape.settle(Answer(trim(answer_text(text.reader.value))))
        return ToDrop()

    def _as_it_stands(self, tape: Tape, text: ObjectText) -> Turn:
        tape.push_back(text.text)
        return ToAnswer()

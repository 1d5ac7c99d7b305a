"""An action written as elements: `<action>search</action><action_input>x</action_input>`."""

import re

from enfilade_cot.actions import CUT, TOO_LONG
from enfilade_cot.events import Action, Answer
from enfilade_cot.input_text import input_value
from enfilade_cot.names import clean, is_final
from enfilade_cot.quiet import Quiet
from enfilade_cot.reader import read_whole
from enfilade_cot.shapes import answer_text
from enfilade_cot.spacing import SPACE, trim
from enfilade_cot.tape import Tape
from enfilade_cot.turns import ToAction, ToDrop, ToElements, ToProse, Turn

_WHOLE = re.compile(
    rf"(?P<name>[^<>]{{1,200}})</(?:action|tool)>{SPACE}*"
    r"(?:<(?P<tag>action_input|tool_input)>(?P<input>.*?)(?:</(?P=tag)>|\Z))?",
    re.DOTALL,
)
_ENDS = ("</action_input>", "</tool_input>")
_NEAR = 512
_LONGEST = max(map(len, _ENDS))


class Elements:
    """Holds the text up to the end of the input; what is no action of this form goes to the reader of others."""

    def __init__(self, turn: ToElements) -> None:
        self._raw = turn.raw
        self._pieces: list[str] = []
        self._tail = ""
        self._size = 0

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Everything is looked at."""
        return None

    def step(self, tape: Tape) -> Turn | None:
        """Reads on."""
        seen = self._tail + tape.buf[tape.pos :]
        places = [at + len(end) for end in _ENDS if (at := seen.find(end)) >= 0]
        end = tape.pos + min(places) - len(self._tail) if places else len(tape.buf)
        piece = tape.take(end)
        self._pieces.append(piece)
        self._size += len(piece)
        self._tail = (self._tail + piece)[-_LONGEST:]
        if self._size > tape.max_object:
            return self._too_long(tape)
        return self._ended(tape) if places or tape.eof else None

    def _too_long(self, tape: Tape) -> Turn:
        text = "".join(self._pieces)
        tape.push_back(text[tape.max_object :])
        tape.fail(TOO_LONG, self._raw + text[: tape.max_object])
        return ToDrop()

    def _ended(self, tape: Tape) -> Turn:
        text = "".join(self._pieces)
        found = _WHOLE.match(text)
        name = clean(found["name"], tape.tools) if found else ""
        if found is None or not name:
            tape.push_back(text)
            if self._size > _NEAR:
                tape.notes.markup_left -= 1
            if trim(text)[:1] in ("{", "["):
                return ToAction(self._raw)
            tape.think(self._raw)
            tape.line_start = False
            return ToProse()
        if tape.cut and tape.eof and found["input"] is not None and not text.endswith(_ENDS):
            tape.fail(CUT, self._raw + text)
            return ToDrop()
        self._act(tape, name, found)
        tape.push_back(text[found.end() :])
        return ToDrop()

    def _act(self, tape: Tape, name: str, found: re.Match[str]) -> None:
        written = found["input"] or ""
        whole, value = read_whole(trim(written)) if trim(written).startswith(("{", "[")) else (False, None)
        given = value if whole else input_value(written)
        if name not in tape.tools and is_final(name):
            tape.settle(Answer(trim(answer_text(given if given != {} else ""))))
        else:
            tape.settle(Action(name, given, self._raw + found.group(), name in tape.tools))

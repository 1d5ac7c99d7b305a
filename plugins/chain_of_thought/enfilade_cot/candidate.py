"""An object without a label: an action if it names a tool and nothing speaks against it."""

import re
from functools import cache

from enfilade_cot.actions import CUT, given, unreadable
from enfilade_cot.events import Action
from enfilade_cot.labels import Hold, Kind, Label
from enfilade_cot.names import clean, is_final
from enfilade_cot.object_text import ObjectText, Reading
from enfilade_cot.quiet import Quiet
from enfilade_cot.shapes import Step, keys, letters, name_in, steps, thought
from enfilade_cot.spacing import BREAKS, GAP, SPACE, space_end
from enfilade_cot.tape import NEAR, Tape
from enfilade_cot.turns import Fence, ToCandidate, ToDrop, ToFence, ToPlainObject, ToProse, Turn

_OWN_KEYS = frozenset({"thought", "thoughts", "action", "actioninput"})
_SURE_KEYS = frozenset({"action", "actioninput", "toolcall", "toolcalls"})


class Candidate:
    """Reads an object at the start of a line, alone or in a code block.

    It is an action when it names a tool of the menu (or the final answer) and is the end of the reply, or an
    observation follows; without a code block around it also when a thought or an answer follows, unless a line with a
    colon introduces it as an example. Else it is text; a reply that ends without any other action and without an
    answer falls back on it where it has a paragraph of its own.
    """

    def __init__(self, tape: Tape, turn: ToCandidate) -> None:
        self._turn = turn
        self._object = ObjectText(tape, stream=not turn.lead.introduced)
        self._steps: list[Step] = []

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Strings in an object go by."""
        return self._object.quiet()

    def step(self, tape: Tape) -> Turn | None:
        """Reads the object, then looks behind it."""
        return self._behind(tape) if self._steps else self._read(tape)

    # ------------------------------------------------------------ the object

    def _read(self, tape: Tape) -> Turn | None:
        reading = self._object.read()
        if self._object.is_other:
            return self._give_up(tape, tried=False)
        if self._object.answered:
            return ToDrop() if reading is not Reading.MORE or tape.eof else None
        if reading is Reading.TOO_LONG:
            return self._give_up(tape, tried=True)
        if reading is Reading.DONE:
            return self._read_whole(tape)
        if reading is Reading.BROKEN:
            lacks = self._object.lacks_brackets()
            if lacks is None:
                return None
            return self._read_whole(tape) if lacks else self._give_up(tape, tried=True)
        return self._unfinished(tape) if tape.eof else None

    def _unfinished(self, tape: Tape) -> Turn | None:
        reader = self._object.reader
        if not tape.cut and reader.close():
            return self._read_whole(tape)
        if self._is_surely_action(tape):
            tape.fail(CUT if tape.cut else unreadable(reader), self._turn.opener + self._object.text)
            return ToDrop()
        return self._give_up(tape, tried=True)

    def _is_surely_action(self, tape: Tape) -> bool:
        frames = self._object.reader.frames
        if letters(self._object.reader.first_key or "") in _SURE_KEYS:
            return True
        named = name_in(frames[0].items) if frames and isinstance(frames[0].items, dict) else None
        name = clean(named[1], tape.tools) if named else ""
        return name in tape.tools or is_final(name)

    def _read_whole(self, tape: Tape) -> Turn | None:
        found = steps(self._object.reader.value, tape.tools, labelled=False)
        if not found or not self._is_action(tape, found):
            return self._release(tape)
        self._steps = found
        return self._behind(tape)

    def _is_action(self, tape: Tape, found: list[Step]) -> bool:
        if any((step.final or step.name in tape.tools) and (step.has_input or step.key == "action") for step in found):
            return True
        value = self._object.reader.value  # the format's own two keys and nothing else: a tool that does not exist
        own = keys(value) if isinstance(value, dict) else set()
        return self._turn.lead.first and {"action", "actioninput"} <= own <= _OWN_KEYS

    # ------------------------------------------------------------ what follows

    def _behind(self, tape: Tape) -> Turn | None:
        end = self._fence_end(tape)
        if end is Hold.MORE:
            return None
        if end is None:
            return self._release(tape)
        ink = space_end(tape.buf, end, NEAR)
        if ink == len(tape.buf) and ink - end < NEAR:
            return self._confirm(tape) if tape.eof else None
        breaks = sum(tape.buf.count(c, end, ink) for c in BREAKS)
        label = tape.grammar.match(tape.buf, ink, eof=tape.eof) if breaks else None
        if label is Hold.MORE:
            return None
        if label is None and not breaks and self._turn.lead.first and tape.buf[ink] == ";":
            return self._before_another(tape, ink)
        return self._judged(tape, ink, label, breaks)

    def _before_another(self, tape: Tape, ink: int) -> Turn | None:
        """Behind a semicolon, as Llama writes several calls."""
        at = space_end(tape.buf, ink + 1, NEAR)
        if at == len(tape.buf) and at - ink <= NEAR and not tape.eof:
            return None
        return self._confirm(tape) if tape.buf.startswith("{", at) else self._release(tape)

    def _judged(self, tape: Tape, ink: int, label: Label | None, breaks: int) -> Turn:
        kind = label.kind if label else None
        if kind is Kind.OBSERVATION:
            return self._confirm(tape)
        fenced = self._turn.fence is not None
        if kind in (Kind.THOUGHT, Kind.ANSWER) and not fenced and not self._turn.lead.introduced:
            return self._confirm(tape)
        if breaks and tape.buf[ink] == "{" and not fenced and not self._turn.lead.introduced:
            return self._confirm(tape)  # a second object is a guess, as a second action is
        if label is None and breaks and self._stands_apart(fenced=fenced):
            tape.notes.fallback = tape.notes.fallback or tuple(self._actions(tape))
        return self._release(tape)

    def _stands_apart(self, *, fenced: bool) -> bool:
        lead = self._turn.lead
        return lead.first or (lead.apart and not lead.introduced and not fenced)

    def _fence_end(self, tape: Tape) -> int | Hold | None:
        """Where the closing line of the code block ends; right here where there is no code block."""
        fence = self._turn.fence
        if fence is None:
            return tape.pos
        found = _closing(fence).match(tape.buf, tape.pos)
        if found and (found.end() < len(tape.buf) or tape.eof):
            return found.end() if tape.buf[found.end() : found.end() + 1] in ("", *BREAKS) else None
        if found or (not tape.eof and _closing_start(fence).match(tape.buf, tape.pos)):
            return Hold.MORE
        if tape.eof and not tape.buf[space_end(tape.buf, tape.pos) :]:
            return len(tape.buf)
        return None

    def _actions(self, tape: Tape) -> list[Action]:
        return [a for a in given(self._steps, self._object.text, tape.tools) if isinstance(a, Action)]

    def _confirm(self, tape: Tape) -> Turn:
        tape.think(thought(self._object.reader.value))
        for event in given(self._steps, self._object.text, tape.tools):
            tape.settle(event)
        return ToDrop()

    def _release(self, tape: Tape) -> Turn:
        tape.think(self._turn.opener + self._object.text)
        tape.line_start = False
        if self._turn.fence is None:
            return ToProse()
        return ToFence(self._turn.fence, "", self._turn.lead, peek=False)

    def _give_up(self, tape: Tape, *, tried: bool) -> Turn:
        """Puts the text back; where the whole object was tried, no other one starts in it."""
        text = self._object.text
        tape.push_back(text)
        if tried:
            tape.guard = tape.offset + min(len(text), tape.max_object)
        tape.line_start = True
        if self._turn.fence is not None:
            return ToFence(self._turn.fence, self._turn.opener, self._turn.lead, peek=False)
        return ToProse() if tried else ToPlainObject()


@cache
def _closing(fence: Fence) -> re.Pattern[str]:
    return re.compile(f"{SPACE}{{0,{NEAR}}}{fence.char}{{{fence.length},16}}{GAP}{{0,8}}")


@cache
def _closing_start(fence: Fence) -> re.Pattern[str]:
    return re.compile(rf"{SPACE}{{0,{NEAR}}}{fence.char}{{0,{fence.length}}}\Z")

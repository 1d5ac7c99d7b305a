"""Code blocks in a thought: examples, charts, and now and then an action or the whole reply."""

import re

from enfilade_cot.events import Thought
from enfilade_cot.fences import closing
from enfilade_cot.labels import Hold
from enfilade_cot.lines import Lines, line_pattern
from enfilade_cot.quiet import Quiet, quiet_as
from enfilade_cot.spacing import BREAKS, INDENT_LIMIT, SPACE, space_end
from enfilade_cot.tape import Tape
from enfilade_cot.turns import ToCandidate, ToFence, ToProse, ToWholeFence, Turn

ACTION_INFO = frozenset({"", "json", "jsonc", "json5", "action", "tool", "tool_call"})
"""Words behind a fence that may hold an action."""

REPLY_INFO = frozenset({"", "text", "txt", "plaintext", "markdown", "md", "react"})
"""Words behind a fence that may hold the whole reply."""

_OBJECT = re.compile(rf"\{{|\[{SPACE}{{0,{INDENT_LIMIT}}}\{{")
_OBJECT_MAYBE = re.compile(rf"\[{SPACE}{{0,{INDENT_LIMIT}}}\Z")


class FenceText(Lines):
    """The inside of a code block, up to its closing line; labels in it are text."""

    def __init__(self, tape: Tape, turn: ToFence) -> None:
        pattern = line_pattern(f"{re.escape(turn.fence.char)}{{3}}|{tape.grammar.head}")
        super().__init__(pattern, quiet_as(Thought, BREAKS))
        self._turn = turn
        self._peek = turn.peek
        tape.line_start = True
        if not self._peek:
            tape.think(turn.opener)

    def step(self, tape: Tape) -> Turn | None:
        """Decides first whether it is more than a code block."""
        if self._peek:
            turn = self._look(tape)
            if turn is Hold.MORE:
                return None
            if turn is not None:
                return turn
            self._peek = False
            tape.think(self._turn.opener)
        return super().step(tape)

    def quiet(self, tape: Tape) -> Quiet | None:
        """None while it is not decided."""
        return None if self._peek else super().quiet(tape)

    def head(self, tape: Tape) -> Turn | Hold | None:
        """The closing line, or a label: should the block never be closed, it was not meant to be inside."""
        end = closing(self._turn.fence, tape.buf, tape.pos, eof=tape.eof)
        if end is Hold.MORE:
            return end
        if end is not None:
            self.say(tape, end)
            tape.line_start = tape.notes.fenced_label = False
            return ToProse()
        label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
        if label is Hold.MORE:
            return label
        tape.notes.fenced_label = tape.notes.fenced_label or label is not None
        tape.line_start = False
        return None

    def say(self, tape: Tape, end: int) -> None:
        """Thought."""
        tape.think(tape.take(end))

    def _look(self, tape: Tape) -> Turn | Hold | None:
        turn = self._turn
        start = space_end(tape.buf, tape.pos, INDENT_LIMIT)
        if start == len(tape.buf) and start - tape.pos < INDENT_LIMIT and not tape.eof:
            return Hold.MORE
        if turn.fence.info in ACTION_INFO:
            if not tape.eof and _OBJECT_MAYBE.match(tape.buf, start):
                return Hold.MORE
            if _OBJECT.match(tape.buf, start):
                return ToCandidate(turn.lead, turn.fence, turn.opener)
        if turn.lead.first and tape.reread and turn.fence.info in REPLY_INFO:
            line = max(tape.buf.rfind("\n", tape.pos, start), tape.buf.rfind("\r", tape.pos, start), tape.pos - 1) + 1
            label = tape.grammar.match(tape.buf, line, eof=tape.eof)
            if label is not None:
                return label if label is Hold.MORE else ToWholeFence(turn.fence, turn.opener)
        return None

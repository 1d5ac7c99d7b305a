"""A reply that the model wrapped in one code block."""

from enfilade_cot.events import Thought
from enfilade_cot.fences import closing, opening
from enfilade_cot.held_lines import HeldLines
from enfilade_cot.labels import Hold, Kind
from enfilade_cot.lines import line_pattern
from enfilade_cot.quiet import Quiet
from enfilade_cot.spacing import space_end
from enfilade_cot.tape import NEAR, Tape
from enfilade_cot.turns import Lead, ToDrop, ToFence, ToProse, ToWholeFence, Turn


class WholeFence(HeldLines):
    """Holds the block until it is known whether anything but its end follows: then it was an example."""

    def __init__(self, tape: Tape, turn: ToWholeFence) -> None:
        super().__init__(line_pattern(r"`{3}|~{3}"), tape.max_object)
        self._turn = turn
        self._depth = 0
        self._close = ""
        tape.line_start = True

    def step(self, tape: Tape) -> Turn | None:
        """Reads the block, then looks behind it."""
        turn = None if self._close else super().step(tape)
        if turn is None and self._size > tape.max_object:
            return self._give_up(tape)
        return self._after(tape) if turn is None and self._close else turn

    def head(self, tape: Tape) -> Turn | Hold | None:
        """The closing line, or the opening and closing lines of a block within the block."""
        end = closing(self._turn.fence, tape.buf, tape.pos, eof=tape.eof)
        if end is Hold.MORE:
            return end
        if end is not None and self._depth == 0:
            if self._size > tape.max_object:
                return self._give_up(tape)
            self._close = tape.take(end)
            return Hold.MORE
        inner = opening(tape.buf, tape.pos, eof=tape.eof) if end is None else None
        if inner is Hold.MORE:
            return inner
        self._depth += (inner is not None) - (end is not None)
        tape.line_start = False
        return None

    def quiet(self, tape: Tape) -> Quiet | None:
        """None behind the block."""
        return None if self._close else super().quiet(tape)

    def ended(self, tape: Tape) -> Turn | None:
        """The block was never closed: it is the reply."""
        return self._give_up(tape) if self._size > tape.max_object else self._reread(tape)

    def _after(self, tape: Tape) -> Turn | None:
        ink = space_end(tape.buf, tape.pos, NEAR)
        if ink == len(tape.buf) and ink - tape.pos < NEAR:
            return self._reread(tape) if tape.eof else None
        label = tape.grammar.match(tape.buf, ink, eof=tape.eof)
        if label is Hold.MORE:
            return None
        if label is not None and label.kind is Kind.OBSERVATION:
            return self._reread(tape)
        tape.think(self._turn.opener + "".join(self._pieces) + self._close)
        tape.line_start = False
        return ToProse()

    def _give_up(self, tape: Tape) -> Turn:
        tape.push_back("".join(self._pieces))
        tape.line_start = True
        return ToFence(self._turn.fence, self._turn.opener, Lead(first=True, apart=False, introduced=False), peek=False)

    def _reread(self, tape: Tape) -> Turn:
        assert tape.reread is not None
        text = "".join(self._pieces)
        events = tape.reread(text)
        if all(isinstance(event, Thought) for event in events):
            tape.think(self._turn.opener + text + self._close)
            tape.line_start = False
            return ToProse()
        tape.out += events
        tape.notes.settled = True
        return ToDrop()

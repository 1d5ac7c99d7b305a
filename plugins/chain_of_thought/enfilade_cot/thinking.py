"""Think blocks."""

import re

from enfilade_cot.events import Action, Answer, Dropped, Event, Mark, ParseError, Thought
from enfilade_cot.labels import Hold, Kind
from enfilade_cot.lines import Lines, line_pattern
from enfilade_cot.quiet import Quiet, quiet_as, quiet_held
from enfilade_cot.spacing import BREAKS, space_end
from enfilade_cot.tags import THINK, unfinished
from enfilade_cot.tape import Tape
from enfilade_cot.turns import ToDrop, ToProse, Turn


def _reasoning(text: str) -> Thought:
    return Thought(text, True)


UNCLOSED = (
    "the think block was never closed, so the action in it may be a mere thought; close it with </think> and write "
    "the action after it"
)


class Thinking(Lines):
    """Reasoning up to the closing tag; blocks may stand in one another.

    Labels in it are text. Should the block never be closed, the last one is read after all: it is an action when
    nothing follows it, or the answer.
    """

    def __init__(self, tape: Tape) -> None:
        pattern = line_pattern(tape.grammar.head, {"<": THINK.removeprefix("<")})
        super().__init__(pattern, quiet_as(_reasoning, f"{BREAKS}<"))
        self._noting = quiet_held(f"{BREAKS}<", self._take)
        self._max_step = tape.max_object
        self._depth = 1
        self._closed = False  # right behind a closing tag that leaves a block open
        self._last_step: list[str] | None = None
        self._size = 0
        tape.line_start = True

    def head(self, tape: Tape) -> Turn | Hold | None:
        """A label, where one more step of the draft begins; or, behind a closing tag, the reply itself."""
        if self._closed:
            self.say(tape, space_end(tape.buf, tape.pos))
            if tape.pos == len(tape.buf):
                return None
        label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
        if label is Hold.MORE:
            return label
        if label is not None and self._closed:
            return self._leave(tape)
        if label is not None and label.kind in (Kind.ACTION, Kind.ANSWER):
            self._last_step, self._size = [], 0
        tape.line_start = self._closed = False
        return None

    def quiet(self, tape: Tape) -> Quiet | None:
        """A step of the draft is noted down as it goes by."""
        if tape.line_start or self._last_step is None:
            return super().quiet(tape)
        return self._noting

    def say(self, tape: Tape, end: int) -> None:
        """Reasoning."""
        tape.out += self._take(tape.take(end))

    def _take(self, text: str) -> list[Event]:
        if self._last_step is not None:
            self._last_step.append(text)
            self._size += len(text)
            if self._size > self._max_step:
                self._last_step = None
        return [_reasoning(text)] if text else []

    def special(self, tape: Tape, found: re.Match[str]) -> Turn | Hold | None:
        """A tag: a block ends, or one more begins."""
        self.say(tape, found.start())
        opens = not found.group().startswith("</")
        self._depth += 1 if opens else -1
        if self._depth == 0:
            tape.take(found.end())
            return self._leave(tape)
        self.say(tape, found.end())
        self._closed = tape.line_start = not opens
        return None

    def held(self, tape: Tape) -> int:
        """An unfinished tag."""
        return unfinished(tape.buf, tape.pos, closing=False)

    def ended(self, tape: Tape) -> Turn | None:
        """The block was never closed."""
        if self._last_step is None or tape.cut or tape.reread is None:
            return None
        events = tape.reread("".join(self._last_step))
        self._last_step = None
        if any(isinstance(event, ParseError) for event in events) or _goes_on(events):
            tape.fail(UNCLOSED, "")
        else:
            kept: list[Event] = [event for event in events if isinstance(event, Action | Answer)]
            tape.out += kept
            tape.notes.settled = bool(kept)
        return ToDrop()

    def _leave(self, tape: Tape) -> Turn:
        tape.forget()
        tape.line_start = True
        return ToProse()


def _goes_on(events: list[Event]) -> bool:
    """Whether something follows an action."""
    acts = any(isinstance(event, Action) for event in events)
    return acts and any(isinstance(event, Dropped | Mark) for event in events)

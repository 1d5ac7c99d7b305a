"""Text that counts for nothing."""

import re

from enfilade_cot.events import Dropped
from enfilade_cot.labels import Hold, Kind
from enfilade_cot.lines import Lines, line_pattern
from enfilade_cot.quiet import Quiet, quiet_as
from enfilade_cot.spacing import GAPS
from enfilade_cot.tags import CALL_END
from enfilade_cot.tape import Tape
from enfilade_cot.turns import ToProse, Turn

_REST = re.compile(rf"[{GAPS}\n\r`~*)\]}},;]+")
_TAG_START = re.compile(r"<(?:/[a-z_]{0,20})?\s{0,8}\Z", re.IGNORECASE)


_ALL = quiet_as(Dropped, "")


class Drop:
    """What follows an action, up to the end of the reply.

    Brackets, fences and tags that close the action itself go without a word.
    """

    def __init__(self) -> None:
        self._begun = False

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Everything goes by."""
        return _ALL if self._begun else None

    def step(self, tape: Tape) -> Turn | None:
        """Drops."""
        while not self._begun and tape.pos < len(tape.buf):
            if tape.buf[tape.pos] == "<":
                found = CALL_END.match(tape.buf, tape.pos)
                if found is None and not tape.eof and _TAG_START.match(tape.buf, tape.pos):
                    return None
            else:
                found = _REST.match(tape.buf, tape.pos)
            self._begun = found is None
            tape.take(found.end() if found else tape.pos)
        tape.drop(tape.take(len(tape.buf)))
        return None


class Skip(Lines):
    """What belongs to an action named "none", up to the next label that begins something else."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(line_pattern(tape.grammar.head))
        self._begun = False
        tape.line_start = True

    def head(self, tape: Tape) -> Turn | Hold | None:
        """A label."""
        label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
        if label is Hold.MORE:
            return label
        if label is not None and self._begun and label.kind not in (Kind.INPUT, Kind.OBSERVATION):
            return ToProse()
        self._begun = True
        tape.line_start = False
        return None

    def say(self, tape: Tape, end: int) -> None:
        """Dropped."""
        tape.drop(tape.take(end))

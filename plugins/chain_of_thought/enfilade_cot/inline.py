"""Labels in the middle of a line."""

import re

from enfilade_cot.events import Mark
from enfilade_cot.labels import Hold, Kind
from enfilade_cot.spacing import GAP, GAPS
from enfilade_cot.tape import Tape

CLUE = 40
"""Characters around a misplaced label that an error quotes."""

_OBJECT_NEXT = re.compile(rf"\*{{0,3}}{GAP}{{0,8}}(?:[{{\[]|`{{3}})")
_BOLD = re.compile(r"\*{0,3}")
_NAME_NEXT = re.compile(rf"\*{{0,3}}{GAP}{{0,8}}`?([\w.-]{{1,64}})`?[\[(]")
_NAME_MAYBE = re.compile(rf"\*{{0,3}}{GAP}{{0,8}}`?([\w.-]{{0,64}})`?\Z")
_CALL_BEFORE = re.compile(
    rf"(?i:action){GAP}{{0,2}}\*{{0,3}}:[{GAPS}*`\"']{{0,6}}([\w.-]{{1,64}})[{GAPS}*`\"',.;]{{0,6}}(?i:action)(?:{GAP}|[_-])?(?i:inputs?)\Z"
)
"""An action and its input on one line, in the middle of it."""
_OBJECT_MAYBE = re.compile(rf"\*{{0,3}}{GAP}{{0,8}}`{{0,2}}\Z")


def inline(tape: Tape, end: int) -> Hold | None:
    """A label that is none, for want of a line of its own: the reply may have meant it all the same.

    Args:
        tape: Where the reading is.
        end: Behind the label's colon.

    Returns:
        `MORE` while it cannot be told; else it was taken as thought.
    """
    found = tape.grammar.inline(tape.before())
    if found is None or found.quoted:
        _say(tape, end)
        return None
    if found.kind is Kind.ANSWER:
        bold = _BOLD.match(tape.buf, end)
        if bold and bold.end() == len(tape.buf) and not tape.eof:
            return Hold.MORE
        _say(tape, bold.end() if bold else end)
        if not tape.notes.marked:
            tape.notes.marked = True
            tape.out.append(Mark())
        return None
    maybe = None if tape.eof else _NAME_MAYBE.match(tape.buf, end)
    if (maybe and any(tool.startswith(maybe[1]) for tool in tape.tools)) or (
        not tape.eof and _OBJECT_MAYBE.match(tape.buf, end)
    ):
        return Hold.MORE
    name = _NAME_NEXT.match(tape.buf, end) or _CALL_BEFORE.search(tape.before())
    if _OBJECT_NEXT.match(tape.buf, end) or (name and name[1] in tape.tools):
        tape.notes.suspect = tape.before()[-CLUE:] + tape.buf[tape.pos : end + 1]
    _say(tape, end)
    return None


def _say(tape: Tape, end: int) -> None:
    tape.think(tape.take(end))

"""A tool call in the markup that the model was trained on."""

import re

from enfilade_cot.actions import CUT
from enfilade_cot.events import Action
from enfilade_cot.labels import Hold
from enfilade_cot.quiet import Quiet
from enfilade_cot.spacing import SPACE, space_end
from enfilade_cot.tape import NEAR, Tape
from enfilade_cot.turns import ToAction, ToDrop, ToMarked, ToProse, Turn
from enfilade_sdk.markup.block import HOLD_LIMIT, Block
from enfilade_sdk.markup.kinds import MARKED, Opener

_HEAD = 512
"""Characters of a block that are looked at one by one, so that where it is given up does not depend on the chunks."""

ELSEWHERE = {
    first: "|".join(re.escape(opener.text[1:]) for opener in MARKED if opener.text[0] == first) for first in "<["
}
"""What stands behind the first character of markup."""

TOOL_CODE = "tool_code"
"""The word behind Gemma's fences."""

FENCED = Opener("```", "fenced", "```")
"""A block of Gemma's code."""

_LIST = Opener("[", "bare", inside=True)
_LIST_START = re.compile(rf"\[{SPACE}{{0,8}}(?P<word>\w)?")

_LONGEST = max(len(opener.text) for opener in MARKED)
_TOLERANT = "tagged"


class Marked:
    """Holds a block until it is known to be a call of a tool on the menu; further blocks may follow it.

    A tag that holds something else goes to the more tolerant reader of actions; any other markup is text then.
    """

    def __init__(self, tape: Tape, turn: ToMarked) -> None:
        self._turn = turn
        self._block: Block | None = Block(turn.opener, tape.menu)
        self._size = 0
        self._acted = False
        if turn.fence is not None:
            self._block.add(turn.fence.opener.lstrip().removeprefix("```"))

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Everything is looked at."""
        return None

    def step(self, tape: Tape) -> Turn | None:
        """Reads the block, then looks for one more behind it."""
        while True:
            turn = self._next(tape) if self._block is None else self._read(tape, self._block)
            if turn is not Hold.MORE:
                return turn

    # ------------------------------------------------------------ a block

    def _read(self, tape: Tape, block: Block) -> Turn | Hold | None:
        most = min(tape.max_object, HOLD_LIMIT)
        while tape.pos < len(tape.buf):
            room = 1 if self._size < _HEAD else most - self._size
            piece = tape.take(min(len(tape.buf), tape.pos + room))
            rest = block.add(piece)
            self._size += len(piece) - len(rest or "")
            if rest is not None:
                tape.pos -= len(rest)
                return self._ended(tape, block)
            if block.is_hopeless or self._size >= most:
                return self._give_up(tape, block)
        if not tape.eof:
            return None
        block.finish()
        if not self._acted and block.calls is None and tape.cut and block.broken_call(cut=True) is not None:
            tape.fail(CUT, block.opener.text + block.source)
            return ToDrop()
        return self._ended(tape, block)

    def _ended(self, tape: Tape, block: Block) -> Turn | Hold:
        if block.calls is None:
            return self._give_up(tape, block)
        raw = block.opener.text + block.source
        for call in block.calls:
            tape.settle(Action(call.name, call.arguments, raw))
        self._acted = True
        self._block = None
        return Hold.MORE

    def _give_up(self, tape: Tape, block: Block) -> Turn:
        fence = self._turn.fence
        if fence is not None:
            tape.push_back(block.source[-self._size :] if self._size else "")
            tape.notes.markup_left -= 1
            return fence
        tape.push_back(block.source)
        if self._acted:
            tape.drop(block.opener.text)
            return ToDrop()
        if self._size > _HEAD:
            tape.notes.markup_left -= 1
        if block.opener.kind == _TOLERANT and self._turn.fresh:
            return ToAction(block.opener.text)
        tape.think(block.opener.text)
        tape.line_start = False
        return ToProse()

    # ------------------------------------------------------------ behind it

    def _next(self, tape: Tape) -> Turn | Hold | None:
        at = space_end(tape.buf, tape.pos, NEAR)
        if at == len(tape.buf) and at - tape.pos < NEAR:
            return ToDrop() if tape.eof else None
        found = opener_at(tape.buf, at, eof=tape.eof)
        if found is Hold.MORE:
            return None
        if found is None:
            return ToDrop()
        tape.take(at + len(found.text))
        self._block, self._size = Block(found, tape.menu), 0
        return Hold.MORE


def opener_at(text: str, at: int, *, eof: bool) -> Opener | Hold | None:
    """The markup that opens at `at`; `Hold.MORE` while there could be one."""
    here = text[at : at + _LONGEST]
    for opener in MARKED:
        if here.startswith(opener.text):
            return opener
    if not eof and len(text) - at < _LONGEST and any(opener.text.startswith(here) for opener in MARKED):
        return Hold.MORE
    return None


def list_at(text: str, at: int, *, eof: bool) -> Opener | Hold | None:
    """A list of calls in Python at `at`."""
    found = _LIST_START.match(text, at)
    if found is None:
        return None
    if found["word"] is None:
        return Hold.MORE if found.end() == len(text) and not eof else None
    return _LIST


def unfinished_opener(text: str, at: int) -> int:
    """Where, at the end of the text, markup begins that is not finished; the end where none does."""
    begin = max(at, len(text) - _LONGEST)
    if text.find("<", begin) < 0 and text.find("[", begin) < 0:
        return len(text)
    for start in range(begin, len(text)):
        if text[start] in "<[" and any(opener.text.startswith(text[start:]) for opener in MARKED):
            return start
    return len(text)

"""Thoughts, and text without labels."""

import re

from enfilade_cot.events import Mark, Thought
from enfilade_cot.fences import opening
from enfilade_cot.grammar import COLONS
from enfilade_cot.inline import inline
from enfilade_cot.labels import Hold, Kind, Label
from enfilade_cot.lines import Lines, line_pattern
from enfilade_cot.marked import ELSEWHERE, FENCED, TOOL_CODE, list_at, opener_at, unfinished_opener
from enfilade_cot.names import clean
from enfilade_cot.quiet import quiet_as
from enfilade_cot.spacing import (
    BLANK_LINES,
    BREAKS,
    GAP,
    INDENT_LIMIT,
    SPACE,
    gap_end,
    indent_end,
    space_end,
    trim,
    trim_end,
    width,
)
from enfilade_cot.tags import CLOSE, HEAD, head_begins, unfinished
from enfilade_cot.tape import Tape
from enfilade_cot.turns import (
    Draft,
    Lead,
    ToAction,
    ToAnswer,
    ToCandidate,
    ToDrop,
    ToElements,
    ToFence,
    ToInput,
    ToMarked,
    ToPlainObject,
    ToSkip,
    ToThinking,
    Turn,
)

ORPHAN = (
    "there is an Action Input without an Action before it; write 'Action:' with the tool's name on a line of its own, "
    "then 'Action Input:'"
)
INVENTED = (
    "there is an Observation without an Action before it; observations come from tools and are never to be written: "
    "write an Action or a Final Answer"
)

_MOST_BEFORE_NAME = 64
_NAME_LINE = re.compile(
    rf"{GAP}{{0,8}}(?P<name>[\w.-]{{1,64}})(?:{GAP}{{0,8}}\Z|{GAP}{{0,8}}[{BREAKS}]{SPACE}{{0,8}}(?:(?P<brace>\{{)|\Z))"
)
_ACTION_LINE = re.compile(rf"(?i:action)\*{{0,3}}:\*{{0,3}}([^{BREAKS}{{\[(]{{1,100}})[{BREAKS}]{{1,4}}\Z")
_NEAR = f"{SPACE}{{0,{INDENT_LIMIT}}}"
_OBJECT = re.compile(rf"(?:\[{_NEAR})?\{{{_NEAR}(?:[\"'\u201c\u2018_]|[^\W\d])")
_OBJECT_START = re.compile(rf"(?:\[{_NEAR})?(?:\{{{_NEAR})?\Z")


class Prose(Lines):
    """Finds what ends a thought: labels, objects, code blocks, think blocks."""

    def __init__(self, tape: Tape) -> None:
        heads = rf"[{{<\[]|`{{3}}|~{{3}}|{tape.grammar.head}"
        tags = f"(?:{CLOSE.removeprefix('<')}|{ELSEWHERE['<']})"
        elsewhere = {"<": tags, r"\[": f"(?:{ELSEWHERE['[']})", "{": f"(?={SPACE}{{0,{INDENT_LIMIT}}}[\"'])"}
        pattern = line_pattern(heads, elsewhere | {COLONS: tape.grammar.before_colon})
        super().__init__(pattern, quiet_as(Thought, f"{BREAKS}{COLONS}{{<["))
        self._after_label = False
        self._carry = ""

    def step(self, tape: Tape) -> Turn | None:
        """Goes on."""
        tape.look_back()
        return super().step(tape)

    def say(self, tape: Tape, end: int) -> None:
        """Thought."""
        tape.think(tape.take(end))

    def head(self, tape: Tape) -> Turn | Hold | None:
        """A label, an object, a code block, a tag, or nothing of these."""
        if self._after_label:
            tape.take(gap_end(tape.buf, tape.pos))
            self._after_label = tape.pos == len(tape.buf)
            if not self._after_label:
                tape.think(self._carry)
            return None
        start = indent_end(tape.buf, tape.pos)
        too_far = start - tape.pos > INDENT_LIMIT
        if start == len(tape.buf) or too_far:
            return self._plain(tape) if tape.eof or too_far else Hold.MORE
        first = tape.buf[start]
        if first in BREAKS:
            lines = BLANK_LINES.match(tape.buf, tape.pos)
            self.say(tape, lines.end() if lines else start + 1)
            return None
        if first in "<[":
            marked = self._marked(tape, start, fresh=True)
            if marked is not None:
                return marked
        if first in "{[":
            return self._object(tape, start)
        if first in "`~":
            return self._fence(tape)
        return self._tag(tape, start) if first == "<" else self._word(tape)

    def _marked(self, tape: Tape, start: int, *, fresh: bool) -> Turn | Hold | None:
        """A call in the model's own markup."""
        if not tape.menu or tape.notes.markup_left <= 0:
            return None
        opener = opener_at(tape.buf, start, eof=tape.eof)
        if opener is None and fresh and lead(tape).first:
            opener = list_at(tape.buf, start, eof=tape.eof)
        if opener is None or opener is Hold.MORE:
            return opener
        self.say(tape, start)
        tape.take(start + len(opener.text))
        return ToMarked(opener, fresh)

    def held(self, tape: Tape) -> int:
        """An unfinished `</think>` or markup, or a brace whose inside is still to come."""
        text, end = tape.buf, len(tape.buf)
        brace = text.rfind("{", max(tape.pos, end - INDENT_LIMIT - 1))
        if brace >= 0 and (brace == end - 1 or space_end(text, brace + 1) == end):
            return brace
        return min(unfinished(text, tape.pos, closing=True), unfinished_opener(text, tape.pos))

    def special(self, tape: Tape, found: re.Match[str]) -> Turn | Hold | None:
        """The end of a think block, an object, or the colon of a label, in the middle of a line."""
        self.say(tape, found.start())
        first = found.group()[0]
        if first == "[" or (first == "<" and not found.group().startswith("</")):
            marked = None if tape.before().endswith(("`", '"', "'")) else self._marked(tape, tape.pos, fresh=False)
            if marked is None:
                self.say(tape, tape.pos + 1)
            return marked
        if first == "<":
            if tape.before().endswith("`"):
                self.say(tape, found.end())
            else:
                self._close_thinking(tape, found.end())
            return None
        if first == "{":
            if tape.offset >= tape.guard:
                return ToPlainObject()
            self.say(tape, found.end())
            return None
        return inline(tape, found.end())

    # ------------------------------------------------------------ the start of a line

    def _plain(self, tape: Tape) -> Turn | None:
        tape.line_start = False
        return None

    def _object(self, tape: Tape, start: int) -> Turn | Hold | None:
        if not tape.eof and _OBJECT_START.match(tape.buf, start):
            return Hold.MORE
        if tape.offset < tape.guard or not _OBJECT.match(tape.buf, start):
            return self._plain(tape)
        return ToCandidate(lead(tape))

    def _fence(self, tape: Tape) -> Turn | Hold | None:
        found = opening(tape.buf, tape.pos, eof=tape.eof)
        if found is Hold.MORE:
            return found
        if found is None:
            return self._plain(tape)
        fence, end = found
        standing = lead(tape)
        if fence.info == TOOL_CODE and tape.menu and tape.notes.markup_left > 0:
            opener = tape.take(end)
            return ToMarked(FENCED, fresh=True, fence=ToFence(fence, opener, standing, peek=False))
        peek = tape.offset >= tape.guard
        return ToFence(fence, tape.take(end), standing, peek)

    def _tag(self, tape: Tape, start: int) -> Turn | Hold | None:
        found = HEAD.match(tape.buf, start)
        if found is None:
            maybe = not tape.eof and head_begins(tape.buf, start)
            return Hold.MORE if maybe else self._plain(tape)
        if found["close"]:
            self._close_thinking(tape, found.end())
            return None
        if found["answer"]:
            return ToAnswer(until=f"</{tape.take(found.end())[1:].lower()}")
        if found["action"] and not (tape.tools and tape.notes.markup_left > 0):
            return self._plain(tape)
        raw = tape.take(found.end())
        if found["action"]:
            return ToElements(raw)
        return ToThinking() if found["open"] else ToAction(raw)

    def _close_thinking(self, tape: Tape, end: int) -> None:
        """A think block ends that never began: what was said so far was reasoning."""
        tape.take(end)
        tape.forget()
        tape.line_start = True
        tape.notes.suspect, tape.notes.fallback, tape.notes.marked = "", (), False
        tape.out.append(Mark())

    def _word(self, tape: Tape) -> Turn | Hold | None:
        label = tape.grammar.match(tape.buf, tape.pos, eof=tape.eof)
        if label is Hold.MORE:
            return label
        if label is None and tape.offset <= _MOST_BEFORE_NAME and tape.menu:
            return self._name_line(tape)
        if label is None or self._is_code(tape, label):
            return self._plain(tape)
        tape.notes.indent = max(tape.notes.indent, width(label.indent))
        return self._label(tape, label)

    def _name_line(self, tape: Tape) -> Turn | Hold | None:
        """A reply that is the name of a tool on a line of its own, and its input as an object, as of GLM."""
        found = _NAME_LINE.match(tape.buf, tape.pos)
        if found is None or not lead(tape).first or tape.notes.thought_label:
            return self._plain(tape)
        name, object_follows = found["name"], found["brace"] is not None
        if object_follows and name in tape.tools:
            return ToInput(Draft(name, tape.take(found.end() - 1)))
        if tape.eof or object_follows:
            return self._plain(tape)
        whole = found.end() > found.end("name")
        may_be = name in tape.tools if whole else any(tool.startswith(name) for tool in tape.tools)
        return Hold.MORE if may_be else self._plain(tape)

    def _is_code(self, tape: Tape, label: Label) -> bool:
        """Whether the line is in a code block made by indentation: further in than any label, after an empty line."""
        if width(label.indent) <= tape.notes.indent:
            return False
        standing = lead(tape)
        return standing.apart and not standing.first

    def _label(self, tape: Tape, label: Label) -> Turn | Hold | None:
        if label.kind is Kind.ANSWER:
            tape.take(label.end)
            return ToAnswer(label.carry)
        if label.kind in (Kind.ACTION, Kind.ACTIONS, Kind.TOOL):
            return ToAction(tape.take(label.end), label)
        if label.kind is Kind.THOUGHT:
            return self._thought(tape, label)
        if label.tentative:
            return self._plain(tape)
        if label.kind is Kind.INPUT:
            return self._orphan(tape, label)
        return self._observation(tape) if label.kind is Kind.OBSERVATION else self._maybe_answer(tape, label)

    def _thought(self, tape: Tape, label: Label) -> Turn | None:
        tape.take(label.end)
        tape.forget()
        tape.notes.thought_label, tape.notes.none_named = True, False
        self._after_label, self._carry = True, label.carry
        return None

    def _maybe_answer(self, tape: Tape, label: Label) -> Turn | None:
        if tape.notes.thought_label and not tape.notes.marked:
            self.say(tape, label.end)
            tape.notes.marked = True
            tape.out.append(Mark())
        return self._plain(tape)

    def _observation(self, tape: Tape) -> Turn | None:
        if tape.notes.none_named:
            return ToSkip()
        if lead(tape).first and not tape.notes.thought_label:  # the model repeats what it was told
            return self._plain(tape)
        if tape.notes.fallback:
            for action in tape.notes.fallback:
                tape.settle(action)
        else:
            tape.fail(INVENTED, "")
        return ToDrop()

    def _orphan(self, tape: Tape, label: Label) -> Turn | None:
        """An input without an action before it; the action may stand at the end of the line before."""
        if tape.notes.none_named:
            return ToSkip()
        line = _ACTION_LINE.search(tape.before())
        name = clean(line[1], tape.tools) if line else ""
        if line and name in tape.tools:
            return ToInput(Draft(name, line.group() + tape.take(label.end)))
        tape.fail(ORPHAN, tape.buf[label.start : label.end])
        return ToDrop()


def lead(tape: Tape) -> Lead:
    """What stands before the place."""
    before = tape.before()
    rest = trim_end(before)
    breaks = before[len(rest) :]
    return Lead(
        first=not trim(rest),
        apart=max(breaks.count("\n"), breaks.count("\r")) > 1,
        introduced=rest.rstrip("*_`").endswith((":", "\uff1a")),
    )

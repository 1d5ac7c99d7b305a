"""An object that is text: what stands in its strings is neither label nor fence."""

from enfilade_cot.labels import Hold
from enfilade_cot.quiet import Quiet
from enfilade_cot.reader import Reader, Status
from enfilade_cot.spacing import BREAKS, LINE_BREAK
from enfilade_cot.tape import Tape
from enfilade_cot.turns import ToProse, Turn


class PlainObject:
    """Lets an object go by.

    Its text leaves as it comes, up to the first line that begins with a label: that one is part of a string only if
    the object turns out to be one, so the text is held from there on and put back otherwise.
    """

    def __init__(self, tape: Tape) -> None:
        self._reader = Reader(strict=True)
        self._line = ""  # the start of a line, as long as it could be a label
        self._fresh = False
        self._held: list[str] | None = None
        self._size = 0
        tape.line_start = False

    def quiet(self, tape: Tape) -> Quiet | None:  # noqa: ARG002 - as every part has it
        """Everything is looked at."""
        return None

    def step(self, tape: Tape) -> Turn | None:
        """Reads on."""
        end = self._reader.advance(tape.buf, tape.pos, eof=tape.eof)
        done = self._reader.status is Status.DONE
        self._pass(tape, tape.take(end), last=done)
        if self._held is not None and (self._size > tape.max_object or (not done and self._is_over(tape))):
            return self._put_back(tape, "".join(self._held))
        if done:
            if self._held is not None:
                tape.think("".join(self._held))
            return ToProse()
        return self._put_back(tape, self._line) if self._is_over(tape) else None

    def _is_over(self, tape: Tape) -> bool:
        return self._reader.status is Status.BROKEN or tape.eof

    def _put_back(self, tape: Tape, text: str) -> Turn:
        tape.push_back(text)
        tape.line_start = self._held is not None or self._fresh
        tape.guard = tape.offset + min(len(text), tape.max_object)
        return ToProse()

    def _pass(self, tape: Tape, text: str, *, last: bool) -> None:
        if self._held is not None:
            self._size += len(text)
            self._held.append(text)
            return
        while text:
            if not self._fresh:
                found = LINE_BREAK.search(text)
                end = found.end() if found else len(text)
                tape.think(text[:end])
                text = text[end:]
                self._fresh = found is not None
                continue
            self._line += text
            text = self._head(tape, last=last)

    def _head(self, tape: Tape, *, last: bool) -> str:
        """Looks at the start of a line; gives the text that is still to go by."""
        label = tape.grammar.match(self._line, 0, eof=last)
        if label is Hold.MORE:
            return ""
        text, self._line = self._line, ""
        self._fresh = False
        if label is not None:
            self._held = [text]
            self._size = len(text)
            return ""
        if text[0] in BREAKS:
            tape.think(text[0])
            self._fresh = True
            return text[1:]
        return text

"""Text that is looked at line by line: most of it goes by, some beginnings of lines matter."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping

from enfilade_cot.labels import Hold
from enfilade_cot.quiet import Quiet
from enfilade_cot.spacing import BREAKS, GAP, INDENT_LIMIT
from enfilade_cot.tape import Tape
from enfilade_cot.turns import Turn


def line_pattern(heads: str, elsewhere: Mapping[str, str] | None = None) -> re.Pattern[str]:
    """Finds the end of each line before one that begins with one of `heads`, and what matters within a line.

    Args:
        heads: What a line may begin with, behind blanks.
        elsewhere: A class of characters (its inside), and what must stand behind, or look back from behind, one of
            them. All first characters make one class, which is what the search is fast at.
    """
    rests = {BREAKS: f"(?={GAP}{{0,{INDENT_LIMIT}}}(?:{heads}))"} | dict(elsewhere or {})
    found = "|".join(f"(?<=[{first}]){rest}" for first, rest in rests.items())
    return re.compile(f"[{''.join(rests)}](?:{found})", re.IGNORECASE)


class Lines(ABC):
    """Goes through lines.

    Args:
        pattern: Made by `line_pattern`.
        quiet: How text in the middle of a line may go by.
    """

    def __init__(self, pattern: re.Pattern[str], quiet: Quiet | None = None) -> None:
        self._search = pattern.search
        self._quiet = quiet

    def step(self, tape: Tape) -> Turn | None:
        """Goes on as far as can be decided; gives what comes next, or None while this goes on."""
        while tape.pos < len(tape.buf):
            turn = self.head(tape) if tape.line_start else self._run_on(tape)
            if turn is Hold.MORE:
                return None
            if turn is not None:
                return turn
        return self.ended(tape) if tape.eof else None

    @abstractmethod
    def head(self, tape: Tape) -> Turn | Hold | None:
        """Looks at the start of a line.

        It passes over what it knows, or sets `line_start` to False where the line begins like any other.
        """

    @abstractmethod
    def say(self, tape: Tape, end: int) -> None:
        """Passes over the text up to `end`, as what this text is."""

    def special(self, tape: Tape, found: re.Match[str]) -> Turn | Hold | None:
        """Meets what the pattern found within a line."""
        self.say(tape, found.end())
        return None

    def held(self, tape: Tape) -> int:
        """Where the last line's end begins that could become special with more text behind it."""
        return len(tape.buf)

    def ended(self, tape: Tape) -> Turn | None:  # noqa: ARG002 - what most texts do
        """Meets the end of the reply."""
        return None

    def quiet(self, tape: Tape) -> Quiet | None:
        """How text in the middle of a line may go by."""
        return None if tape.line_start else self._quiet

    def _run_on(self, tape: Tape) -> Turn | Hold | None:
        found = self._search(tape.buf, tape.pos)
        if found is not None:
            if found.group()[0] not in BREAKS:
                return self.special(tape, found)
            self.say(tape, found.start() + 1)
            tape.line_start = True
            return None
        end = len(tape.buf) if tape.eof else self.held(tape)
        line = max(tape.buf.rfind("\n", tape.pos), tape.buf.rfind("\r", tape.pos)) + 1
        if 0 < line <= end:
            self.say(tape, line)
            tape.line_start = True
            return None
        if end > tape.pos:
            self.say(tape, end)
        return Hold.MORE if end < len(tape.buf) else None

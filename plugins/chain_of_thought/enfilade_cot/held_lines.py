"""Lines that are held until it is known what they are."""

import re

from enfilade_cot.events import Event
from enfilade_cot.lines import Lines
from enfilade_cot.quiet import quiet_held
from enfilade_cot.spacing import BREAKS
from enfilade_cot.tape import Tape


class HeldLines(Lines):
    """Keeps the text in pieces, and counts it.

    Args:
        pattern: As in `Lines`.
        most: Characters that may be held; whoever holds more has to give up.
        begun: Text that is held already.
    """

    def __init__(self, pattern: re.Pattern[str], most: int, begun: str = "") -> None:
        super().__init__(pattern, quiet_held(BREAKS, self._take))
        self._most = most
        self._pieces = [begun] if begun else []
        self._size = len(begun)

    def say(self, tape: Tape, end: int) -> None:
        """Held."""
        self._size += end - tape.pos
        self._pieces.append(tape.take(end))

    def _take(self, text: str) -> list[Event] | None:
        if self._size + len(text) > self._most:
            return None
        self._size += len(text)
        self._pieces.append(text)
        return []

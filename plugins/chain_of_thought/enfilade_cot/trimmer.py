"""Trims a text that arrives in pieces."""

from collections import deque
from functools import partial

from enfilade_cot.events import Answer, Event
from enfilade_cot.quiet import Quiet, quiet_held, quiet_trimmed
from enfilade_cot.spacing import WHITE, trim_end, trim_start

LONGEST = 4096
"""White space at the end that is held back; of a longer run, what is too much goes out."""

_WHITE = frozenset(WHITE)


class Trimmer:
    """Gives the text out as it comes, without white space at its start and end."""

    def __init__(self) -> None:
        self._begun = False
        self._held: deque[str] = deque()
        self._size = 0
        self._quiets: dict[str, tuple[Quiet, Quiet]] = {}

    def quiet(self, stops: str) -> Quiet:
        """How the text of an answer may go by; right behind white space it is taken with it."""
        if stops not in self._quiets:
            turned = partial(self.quiet, stops)
            idle = quiet_trimmed(Answer, stops, WHITE, self._flow, turned)
            self._quiets[stops] = idle, quiet_held(stops, self._flow, turned)
        idle, holding = self._quiets[stops]
        return idle if self._begun and not self._held else holding

    def _flow(self, text: str) -> list[Event]:
        if text in _WHITE and self._begun and self._size < LONGEST:
            self._held.append(text)
            self._size += 1
            return []
        text = self.feed(text)
        return [Answer(text)] if text else []

    def feed(self, text: str) -> str:
        """Takes a piece; gives what can go out."""
        if not self._begun:
            text = trim_start(text)
            self._begun = bool(text)
        ink = trim_end(text)
        if ink:
            out = "".join(self._held) + ink
            self._held.clear()
            self._size = 0
        else:
            out = ""
        self._hold(text[len(ink) :])
        return out + self._excess()

    def _hold(self, white: str) -> None:
        if white:
            self._held.append(white)
            self._size += len(white)

    def _excess(self) -> str:
        pieces = []
        while self._size > LONGEST:
            first = self._held.popleft()
            spare = self._size - LONGEST
            pieces.append(first[:spare])
            self._size -= len(pieces[-1])
            if len(first) > spare:
                self._held.appendleft(first[spare:])
        return "".join(pieces)

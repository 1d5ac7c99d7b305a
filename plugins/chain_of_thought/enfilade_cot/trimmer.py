"""Trims a text that arrives in pieces."""

from enfilade_cot.events import Answer, Event
from enfilade_cot.quiet import ALOUD, AtOnce, Quiet, quiet_trimmed
from enfilade_cot.spacing import WHITE, trim_end, trim_start

LONGEST = 4096
"""White space at the end that is held back; of a longer run, what is too much goes out."""

_WHITE = frozenset(WHITE)


class Trimmer:
    """Gives the text out as it comes, without white space at its start and end."""

    def __init__(self) -> None:
        self._begun = False
        self._held = ""
        self._at_once = ALOUD
        self._quiets: dict[str, Quiet] = {}

    def quiet(self, stops: str) -> Quiet:
        """How the text of an answer may go by; right behind white space it is taken with it."""
        idle = self._quiets.get(stops)
        if idle is None:
            idle = self._quiets[stops] = quiet_trimmed(Answer, stops, WHITE, self._flow, self._turned)
        self._at_once = AtOnce(idle.stops, idle.search)
        now = self._turned()
        return idle if now is self._at_once else idle._replace(stops=now.stops, search=now.search)

    def _turned(self) -> AtOnce:
        return ALOUD if self._held or not self._begun else self._at_once

    def _flow(self, text: str) -> list[Event]:
        if self._begun and len(text) == 1:
            if text not in _WHITE:
                text, self._held = self._held + text, ""
                return [Answer(text)]
            if len(self._held) < LONGEST:
                self._held += text
                return []
        text = self.feed(text)
        return [Answer(text)] if text else []

    def feed(self, text: str) -> str:
        """Takes a piece; gives what can go out."""
        if not self._begun:
            text = trim_start(text)
            self._begun = bool(text)
        ink = trim_end(text)
        out = self._held + ink if ink else ""
        held = text[len(ink) :] if ink else self._held + text
        self._held = held[-LONGEST:]
        return out + held[: -len(self._held)] if len(held) > LONGEST else out

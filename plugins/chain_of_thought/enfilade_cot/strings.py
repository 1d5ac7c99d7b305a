"""Reads a quoted string as it arrives."""

import re

from enfilade_cot.escapes import unescape
from enfilade_cot.quotes import OPENERS, Place, Quoting

MAX_KEY = 400
"""Characters of a key; nothing that is longer is one."""

TRIPLE = 3

_RUNS = {closer: re.compile(f"[^{re.escape(closer)}\\\\]+") for closer in OPENERS.values()}


def is_triple(text: str, at: int, *, eof: bool) -> bool | None:
    """Whether three quotes stand at `at`; None while there could still be three."""
    quotes = text[at] * TRIPLE
    if text.startswith(quotes, at):
        return True
    return None if not eof and quotes.startswith(text[at:]) else False


class StringReader:
    """Reads one string from behind its opening quote.

    Args:
        quote: The opening quote.
        place: What the string is.
        quoting: Tells closing quotes from others; None where every quote closes.
        triple: Whether three quotes open and close it.

    Attributes:
        place: What the string is.
        closer: What closes it.
        plain: Whether nothing but its closing quote and escapes matter in it.
        pieces: What was read so far, decoded.
        done: Whether the closing quote was read.
        broken: Whether it cannot be what it should be (a key of `MAX_KEY` characters).
    """

    def __init__(self, quote: str, place: Place, quoting: Quoting | None, *, triple: bool = False) -> None:
        self.place = place
        self.pieces: list[str] = []
        self.done = False
        self.broken = False
        self.closer = OPENERS[quote]
        self._run = _RUNS[self.closer]
        self._quoting = quoting
        self.plain = not triple and place is not Place.KEY
        self._triple = triple
        self._length = 0

    def advance(self, text: str, at: int, *, eof: bool) -> int:
        """Reads on, up to its end or as far as can be decided; gives where it stopped."""
        while at < len(text) and not (self.done or self.broken):
            new = self._step(text, at, eof=eof)
            if new is None:
                break
            at = new
        return at

    def _step(self, text: str, at: int, *, eof: bool) -> int | None:
        run = self._run.match(text, at)
        if run:
            return self._take(run.group(), at, run.end())
        if text[at] == "\\":
            piece = unescape(text, at, eof=eof)
            return None if piece is None else self._take(piece[0], at, piece[1])
        if self._triple:
            closes = is_triple(text, at, eof=eof)
        else:
            closes = self._quoting is None or self._quoting.closes(text, at + 1, self.place, eof=eof)
        if closes is None:
            return None
        if not closes:
            return self._take(text[at], at, at + 1)
        self.done = True
        return at + (TRIPLE if self._triple else 1)

    def _take(self, piece: str, at: int, end: int) -> int:
        if self.place is Place.KEY:
            self._length += len(piece)
            if self._length > MAX_KEY:
                self.broken = True
                return min(end, at + len(piece) - (self._length - MAX_KEY))
        self.pieces.append(piece)
        return end

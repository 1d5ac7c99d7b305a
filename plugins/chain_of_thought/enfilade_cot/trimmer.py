"""Trims a text that arrives in pieces."""

from collections import deque

from enfilade_cot.spacing import trim_end, trim_start

LONGEST = 4096
"""White space at the end that is held back; of a longer run, what is too much goes out."""


class Trimmer:
    """Gives the text out as it comes, without white space at its start and end."""

    def __init__(self) -> None:
        self._begun = False
        self._held: deque[str] = deque()
        self._size = 0

    @property
    def idle(self) -> bool:
        """Whether the text has begun and no white space is held back."""
        return self._begun and not self._held

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

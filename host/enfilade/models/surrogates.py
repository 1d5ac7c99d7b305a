"""Characters that servers cut in two when they escape them as JSON."""

import re

_LONE = re.compile("[\ud800-\udfff]")


def mended(text: str) -> str:
    """Text without lone surrogates: halves that meet become their character, others U+FFFD."""
    if text.isascii() or _LONE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class SurrogateJoiner:
    """Joins the halves of a character that came in two pieces of text."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is whole by now; a first half at the end waits for its second."""
        if piece.isascii() and not self._held:
            return piece
        text, self._held = self._held + piece, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return mended(text)

    def finish(self) -> str:
        """What is left: a half that never met the other."""
        held, self._held = self._held, ""
        return mended(held)

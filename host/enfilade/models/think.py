"""Thought that a model writes into its text, between `<think>` and `</think>`."""

import re
from typing import NamedTuple

_PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
}
_OPENERS = tuple(_PAIRS)
_NO_TAG = re.compile("(?!)")
_ORPHANS = ("</think>", "</thinking>")
_PROSE_BEFORE = " \t`'\"(*_"


class Split(NamedTuple):
    """What a piece of text holds: thought first, then text.

    Attributes:
        reasoning: Thought.
        text: Text for the user.
        reclaimed: All text given out before belongs to the thought: a closing tag came that nobody opened.
        returned: How many characters at the end of all thought given out are text after all (and are in `text`).
    """

    reasoning: str = ""
    text: str = ""
    reclaimed: bool = False
    returned: int = 0


class ThinkSplitter:
    """Parts thought from text as it streams, the same way however the text is cut.

    A block counts at the start of the reply, again and again while no text has come; a tag later on is prose about
    tags. Blocks may be nested and may stay open to the end. When a nested tag is never closed, what follows the last
    closing tag is text (and not only thought). A `</think>` that nobody opened (chat templates that open the block in
    the prompt) makes thought of all text before it, unless it stands in a sentence about tags. White space around a
    block belongs to the block.
    """

    def __init__(self) -> None:
        self._held = ""
        self._state = self._at_start
        self._depth = 0
        self._block = False
        self._tags = _NO_TAG
        self._opener = ""
        self._after_close: list[str] | None = None
        self._last = ""

    @property
    def is_flowing(self) -> bool:
        """Whether text without any bracket would pass just as it is."""
        return not self._held and not self._depth and self._state != self._at_start

    def passed(self, text: str) -> None:
        """Takes note of text, without any bracket, that went past while this was flowing."""
        self._last = text[-1]

    def feed(self, piece: str) -> Split:
        """Splits the next piece; what may yet become a tag is held back."""
        return self._state(self._held + piece if self._held else piece)

    def finish(self) -> Split:
        """What was held back, at the end of the reply."""
        held, self._held = self._held, ""
        if self._depth:
            tail = "" if self._after_close is None else "".join([*self._after_close, held]).lstrip()
            return Split(held, tail, returned=len(tail))
        if self._block:
            return Split(text=held.lstrip())
        last = self._watching(held)
        return last._replace(text=last.text + self._held)

    def _at_start(self, text: str) -> Split:
        bare = text.lstrip()
        low = bare[:16].lower()
        opener = next((opener for opener in _OPENERS if low.startswith(opener)), None)
        if opener is not None:
            self._enter(opener)
            return self._inside(bare[len(opener) :])
        if any(candidate.startswith(low) for candidate in _OPENERS) or (not self._block and _may_close(low)):
            self._held = text
            return Split()
        self._held = ""
        self._state = self._passing if self._block else self._watching
        return Split(text=bare) if self._block else self._watching(text)

    def _enter(self, opener: str) -> None:
        self._held, self._depth, self._block, self._opener = "", 1, True, opener
        self._after_close = None
        self._tags = re.compile(f"{re.escape(opener)}|{re.escape(_PAIRS[opener])}", re.IGNORECASE)
        self._state = self._inside

    def _inside(self, text: str) -> Split:
        self._held = ""
        at, pieces = 0, []
        for tag in self._tags.finditer(text):
            if tag[0].lower() == self._opener:
                self._depth += 1
                continue
            self._depth -= 1
            if not self._depth:
                pieces.append(text[at : tag.start()])
                self._state = self._at_start
                after = self._at_start(text[tag.end() :])
                return Split("".join(pieces) + after.reasoning, after.text)
            pieces.append(text[at : tag.end()])
            at, self._after_close = tag.end(), []
        keep = len(text) - _partial(text, at, (self._opener, _PAIRS[self._opener]))
        self._held = text[keep:]
        if self._after_close is not None:
            self._after_close.append(text[at:keep])
        return Split("".join(pieces) + text[at:keep])

    def _watching(self, text: str) -> Split:
        self._held = ""
        if "<" not in text:
            self._last = text[-1:] or self._last
            return Split(text=text)
        found = re.search(r"<(/?)think(?:ing)?>", text, re.IGNORECASE)
        if found is None:
            keep = len(text) - _partial(text, 0, (*_ORPHANS, *_OPENERS[:2]))
            self._held = text[keep:]
            self._last = text[keep - 1 : keep] or self._last
            return Split(text=text[:keep])
        before = text[: found.start()]
        if not found[1] or (before[-1:] or self._last or "x") in _PROSE_BEFORE:
            self._state = self._passing
            return Split(text=text)
        self._block, self._state = True, self._at_start
        after = self._at_start(text[found.end() :])
        return Split(before + after.reasoning, after.text, reclaimed=True)

    def _passing(self, text: str) -> Split:
        return Split(text=text)


def _may_close(low: str) -> bool:
    return any(orphan.startswith(low) for orphan in _ORPHANS)


def _partial(text: str, start: int, tags: tuple[str, ...]) -> int:
    """How many characters at the end of the text may be the beginning of a tag."""
    at = max(text.rfind("<", start), text.rfind("[", start), text.rfind("◁", start))
    if at < 0:
        return 0
    low = text[at:].lower()
    return len(low) if any(tag.startswith(low) and tag != low for tag in tags) else 0

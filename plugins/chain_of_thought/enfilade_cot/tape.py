"""The reply as it arrives: what is still to be read, what was made of the rest."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from enfilade_cot.events import Action, Answer, Dropped, Event, ParseError, Thought
from enfilade_cot.grammar import COLONS, Grammar

WINDOW = 16_384
"""Characters of a long chunk that are looked at at once, so that putting text back stays cheap."""

CONTEXT = 200
"""Characters of earlier text that can be looked back at."""


NEAR = 1024
"""Characters of white space behind an object or a code block that are held until it is known what follows."""


_COLONS = frozenset(COLONS)
_SEEN = 3
"""Characters before a colon that a pattern looks back at."""


@dataclass(slots=True)
class Notes:
    """What is known about the reply so far.

    Attributes:
        settled: Whether an action, an answer or an error was found.
        thought_label: Whether a thought was labelled.
        marked: Whether the answer of a reply without any was marked.
        indent: Columns up to which a label after an empty line is one and not a code block.
        none_named: Whether the last action was "none", whose input and result count for nothing.
        suspect: A label in the middle of a line, with an object behind it.
        fenced_label: Whether a label stands in the code block that is still open.
        markup_left: How many more long blocks of markup may turn out to be none before markup is not looked for.
        fallback: An action that counts if the reply ends without any other and without an answer.
    """

    settled: bool = False
    thought_label: bool = False
    marked: bool = False
    indent: int = 3
    none_named: bool = False
    suspect: str = ""
    fenced_label: bool = False
    fallback: tuple[Action, ...] = ()
    markup_left: int = 8


class Tape:
    """The text, a place in it, and the events.

    Args:
        menu: The tools that may be called, with the schemas of their arguments.
        grammar: Finds labels.
        max_object: Characters of the longest object, fence or input that is held.
        reread: Parses a text by itself; None in a parser that does so for another.

    Attributes:
        buf: The text that is at hand.
        pos: The place in it.
        line_start: Whether the place is the start of a line.
        guard: Offset in the reply before which no object starts (it was tried).
        cut: Whether the reply was cut off by its length.
        out: The events since they were last taken.
        notes: What is known about the reply.
    """

    def __init__(
        self,
        menu: Mapping[str, Mapping[str, Any]],
        grammar: Grammar,
        max_object: int,
        reread: Callable[[str], list[Event]] | None,
    ) -> None:
        self.menu = menu
        self.tools = frozenset(menu)
        self.grammar = grammar
        self.max_object = max_object
        self.reread = reread
        self.buf = ""
        self.pos = 0
        self.line_start = True
        self.guard = 0
        self.cut = False
        self.out: list[Event] = []
        self.notes = Notes()
        self._base = 0
        self._ended = False
        self._pending: list[tuple[str, int]] = []
        self._recent: deque[str] = deque(maxlen=CONTEXT)
        self.remember = self._recent.append
        """Learns what went by without being looked at, as `before` would give it; `buf` must be used up."""

    # ------------------------------------------------------------ text

    @property
    def eof(self) -> bool:
        """Whether `buf` holds the end of the reply."""
        return self._ended and not self._pending

    @property
    def offset(self) -> int:
        """The place, counted from the start of the reply."""
        return self._base + self.pos

    def load(self, text: str) -> None:
        """Takes a chunk."""
        if self._pending or len(text) > WINDOW:
            self._pending.append((text, 0))
        else:
            self._base += self.pos
            self.buf = self.buf[self.pos :] + text
            self.pos = 0

    def end(self, *, cut: bool) -> None:
        """Learns that there is no more text."""
        self._ended = True
        self.cut = cut

    def fill(self) -> bool:
        """Brings the next piece of text into `buf`; False when there is none."""
        if not self._pending:
            return False
        text, at = self._pending.pop()
        if at + WINDOW < len(text):
            self._pending.append((text, at + WINDOW))
        self._base += self.pos
        self.buf = self.buf[self.pos :] + text[at : at + WINDOW]
        self.pos = 0
        return True

    def look_back(self) -> None:
        """Sees to it that the text before a colon is in `buf`, for patterns that look back at it."""
        if self.pos < _SEEN and not _COLONS.isdisjoint(self.buf[self.pos : self.pos + _SEEN]):
            seen = self.before()[-_SEEN:]
            self._base += self.pos - len(seen)
            self.buf = seen + self.buf[self.pos :]
            self.pos = len(seen)

    def take(self, end: int) -> str:
        """Passes over the text up to `end` and gives it."""
        text = self.buf[self.pos : end]
        self.pos = end
        return text

    def push_back(self, text: str) -> None:
        """Puts text that was passed over back before the place."""
        if self.pos < len(self.buf):
            self._pending.append((self.buf, self.pos))
        self._pending.append((text, 0))
        self._base += self.pos - len(text)
        self.buf = ""
        self.pos = 0

    def before(self) -> str:
        """The last characters that were given out as thought, since the last label or think block."""
        text = "".join(self._recent)[-CONTEXT:]
        self._recent.clear()
        self._recent.append(text)
        return text

    def forget(self) -> None:
        """Lets nothing be before the place."""
        self._recent.clear()

    # ------------------------------------------------------------ events

    def think(self, text: str, *, reasoning: bool = False) -> None:
        """Gives out text as thought."""
        if text:
            self.out.append(Thought(text, reasoning))
            if not reasoning:
                self._recent.append(text[-CONTEXT:])

    def settle(self, event: Action | Answer | Dropped) -> None:
        """Gives out an action or an answer, or what is dropped beside it."""
        self.notes.settled = True
        self.out.append(event)

    def fail(self, reason: str, raw: str) -> None:
        """Gives out an error."""
        self.notes.settled = True
        self.out.append(ParseError(reason, raw))

    def drop(self, text: str) -> None:
        """Gives out text that counts for nothing."""
        if text:
            self.out.append(Dropped(text))

"""Finds thoughts, actions and the answer in a reply of a model, while it arrives."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from enfilade_cot.action import ActionHead
from enfilade_cot.action_input import ActionInput, AwaitInput
from enfilade_cot.action_line import ActionLine
from enfilade_cot.answer import FinalAnswer, NamedAnswer
from enfilade_cot.candidate import Candidate
from enfilade_cot.drop import Drop, Skip
from enfilade_cot.elements import Elements
from enfilade_cot.events import Action, Answer, Dropped, Event, Mark, ParseError, Thought
from enfilade_cot.fence_text import FenceText
from enfilade_cot.grammar import grammar_of
from enfilade_cot.input_text import InputText
from enfilade_cot.labels import ENGLISH, LabelSet
from enfilade_cot.marked import Marked
from enfilade_cot.plain_object import PlainObject
from enfilade_cot.prose import Prose
from enfilade_cot.quiet import LOUD, AtOnce, Make, Quiet, Search, Take
from enfilade_cot.tape import CONTEXT, Tape
from enfilade_cot.thinking import Thinking
from enfilade_cot.turns import (
    ToAction,
    ToActionLine,
    ToAnswer,
    ToAwaitInput,
    ToCandidate,
    ToDrop,
    ToElements,
    ToFence,
    ToInput,
    ToInputText,
    ToMarked,
    ToNamedAnswer,
    ToPlainObject,
    ToProse,
    ToSkip,
    ToThinking,
    ToWholeFence,
    Turn,
)
from enfilade_cot.whole_fence import WholeFence

__all__ = ["Action", "Answer", "Dropped", "Event", "Mark", "ParseError", "Parser", "Thought"]

MISPLACED = (
    "an action or its input stands in the middle of a line, so nothing was run; write 'Action:' at the start of a line"
)
UNCLOSED_FENCE = (
    "the reply ends inside a code block that was never closed, with a label in it; close the block, and write the "
    "action or the Final Answer after it"
)

MAX_OBJECT = 1 << 20
"""Characters of the longest object, input or code block that is held."""

MIN_OBJECT = 4096
"""No limit is smaller, so that a key always fits in."""


class State(Protocol):
    """A part of the parser."""

    def step(self, tape: Tape) -> Turn | None:
        """Reads on; gives what comes next, or None while more text is needed."""

    def quiet(self, tape: Tape) -> Quiet | None:
        """How text may go by without being looked at, once all that is there was."""


class Parser:
    """One reply.

    It never raises, whatever the text; its events, joined, do not depend on how the text is cut into chunks.

    Args:
        tools: The names on the menu, perhaps with the schemas of their arguments; empty when no tool may be called.
        labels: The words of the labels.
        max_object: Characters of the longest object, input or code block; at least `MIN_OBJECT`.
        thinking: Whether the reply begins inside a think block, as with models whose prompt ends with `<think>`.
    """

    def __init__(
        self,
        tools: Collection[str] | Mapping[str, Mapping[str, Any]],
        *,
        labels: LabelSet = ENGLISH,
        max_object: int = MAX_OBJECT,
        thinking: bool = False,
    ) -> None:
        self._menu: Mapping[str, Mapping[str, Any]] = tools if isinstance(tools, Mapping) else {n: {} for n in tools}
        self._labels = labels
        grammar = grammar_of(labels)
        self._tape = Tape(self._menu, grammar, max(MIN_OBJECT, max_object), self._reread)
        self._prose = Prose(self._tape)
        self._state: State = Thinking(self._tape) if thinking else self._prose
        self._over = False
        self._remember = self._tape.remember
        self._stops: frozenset[str] | None
        self._search: Search
        self._make: Make
        self._second_stops: frozenset[str]
        self._second_search: Search
        self._take: Take
        self._turned: Callable[[], AtOnce] | None
        self._hear(LOUD)

    def feed(self, text: str) -> list[Event]:
        """Takes the next chunk.

        Args:
            text: Any text, of any length.

        Returns:
            What can be said now; thought and answer leave as soon as they cannot be a label any more.
        """
        if len(text) == 1:
            stops = self._stops
            if stops is not None and text not in stops:
                self._remember(text)
                return [self._make(text)]
            events = None if text in self._second_stops else self._take(text)
        elif self._search(text) is None:
            self._remember(text[-CONTEXT:])
            return [self._make(text)]
        else:
            events = None if self._second_search(text) else self._take(text)
        if events is not None:
            if self._turned is not None:
                self._stops, self._search = self._turned()
            return events
        return self._feed(text)

    def finish(self, cut: bool = False) -> list[Event]:
        """Learns that the reply has ended.

        Args:
            cut: Whether it was cut off by its length; then nothing incomplete is completed and run.

        Returns:
            What was held back, and what follows from the end.
        """
        if self._over:
            return []
        self._tape.end(cut=cut)
        self._run()
        self._over = True
        self._hear(LOUD)
        self._conclude()
        return self._taken()

    @property
    def labelled(self) -> bool:
        """Whether a thought was labelled so far."""
        return self._tape.notes.thought_label

    def _feed(self, text: str) -> list[Event]:
        tape = self._tape
        if self._over:
            return [Dropped(text)] if text else []
        tape.load(text)
        self._run()
        self._hear((self._state.quiet(tape) if tape.pos == len(tape.buf) else None) or LOUD)
        return self._taken()

    def _hear(self, quiet: Quiet) -> None:
        self._stops = quiet.stops
        self._search = quiet.search
        self._make = quiet.make
        self._second_stops = quiet.second_stops
        self._second_search = quiet.second_search
        self._take = quiet.take
        self._turned = quiet.turned

    def _taken(self) -> list[Event]:
        events, self._tape.out = self._tape.out, []
        return events

    def _run(self) -> None:
        tape = self._tape
        while True:
            turn = self._state.step(tape)
            if turn is not None:
                self._state = self._state_for(turn)
            elif not tape.fill():
                return

    def _conclude(self) -> None:
        """Without an action, an answer and an error: falls back on what was not sure, or names what is wrong."""
        tape, notes = self._tape, self._tape.notes
        if notes.settled:
            return
        if notes.fallback:
            for action in notes.fallback:
                tape.settle(action)
        elif notes.suspect:
            tape.fail(MISPLACED, notes.suspect)
        elif notes.fenced_label:
            tape.fail(UNCLOSED_FENCE, "")

    def _reread(self, text: str) -> list[Event]:
        inner = Parser(self._menu, labels=self._labels, max_object=self._tape.max_object)
        inner._tape.reread = None
        return inner.feed(text) + inner.finish(self._tape.cut)

    def _state_for(self, turn: Turn) -> State:  # noqa: C901, PLR0911, PLR0912 - one line a case
        tape = self._tape
        match turn:
            case ToProse():
                return self._prose
            case ToDrop():
                return Drop()
            case ToThinking():
                return Thinking(tape)
            case ToFence():
                return FenceText(tape, turn)
            case ToWholeFence():
                return WholeFence(tape, turn)
            case ToCandidate():
                return Candidate(tape, turn)
            case ToPlainObject():
                return PlainObject(tape)
            case ToAction():
                return ActionHead(turn)
            case ToMarked():
                return Marked(tape, turn)
            case ToElements():
                return Elements(turn)
            case ToActionLine():
                return ActionLine(turn)
            case ToAwaitInput():
                return AwaitInput(tape, turn)
            case ToInput():
                return ActionInput(turn)
            case ToInputText():
                return InputText(tape, turn)
            case ToAnswer():
                return FinalAnswer(tape, turn)
            case ToNamedAnswer():
                return NamedAnswer(tape)
            case ToSkip():
                return Skip(tape)

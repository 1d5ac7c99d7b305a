"""Finds thoughts, actions and the answer in a reply of a model, while it arrives."""

import re
from collections.abc import Collection
from typing import Protocol

from enfilade_cot.action import ActionHead
from enfilade_cot.action_input import ActionInput, AwaitInput
from enfilade_cot.action_line import ActionLine
from enfilade_cot.answer import FinalAnswer, NamedAnswer
from enfilade_cot.candidate import Candidate
from enfilade_cot.drop import Drop, Skip
from enfilade_cot.events import Action, Answer, Dropped, Event, Mark, ParseError, Thought
from enfilade_cot.fence_text import FenceText
from enfilade_cot.grammar import grammar_of
from enfilade_cot.input_text import InputText
from enfilade_cot.labels import ENGLISH, LabelSet
from enfilade_cot.plain_object import PlainObject
from enfilade_cot.prose import Prose
from enfilade_cot.tape import Tape
from enfilade_cot.thinking import Thinking
from enfilade_cot.turns import (
    ToAction,
    ToActionLine,
    ToAnswer,
    ToAwaitInput,
    ToCandidate,
    ToDrop,
    ToFence,
    ToInput,
    ToInputText,
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

_FEED_STOPS = "\n\r:\uff1a\ufe55\ufe13{<"
_STOP = re.compile(f"[{_FEED_STOPS}]")
_STOPS = frozenset(_FEED_STOPS)


class State(Protocol):
    """A part of the parser."""

    def step(self, tape: Tape) -> Turn | None:
        """Reads on; gives what comes next, or None while more text is needed."""


class Parser:
    """One reply.

    It never raises, whatever the text; its events, joined, do not depend on how the text is cut into chunks.

    Args:
        tools: The names on the menu; empty when no tool may be called.
        labels: The words of the labels.
        max_object: Characters of the longest object, input or code block; at least `MIN_OBJECT`.
        thinking: Whether the reply begins inside a think block, as with models whose prompt ends with `<think>`.
    """

    def __init__(
        self,
        tools: Collection[str],
        *,
        labels: LabelSet = ENGLISH,
        max_object: int = MAX_OBJECT,
        thinking: bool = False,
    ) -> None:
        self._tools = frozenset(tools)
        self._labels = labels
        grammar = grammar_of(labels)
        self._tape = Tape(self._tools, grammar, max(MIN_OBJECT, max_object), self._reread)
        self._prose = Prose(self._tape)
        self._state: State = Thinking(self._tape) if thinking else self._prose
        self._quiet = False
        self._over = False

    def feed(self, text: str) -> list[Event]:
        """Takes the next chunk.

        Args:
            text: Any text, of any length.

        Returns:
            What can be said now; thought and answer leave as soon as they cannot be a label any more.
        """
        if self._quiet and text and (text not in _STOPS if len(text) == 1 else _STOP.search(text) is None):
            self._tape.skip(text)
            return [Thought(text)]
        if not text:
            return []
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
        self._quiet = False
        self._conclude()
        return self._taken()

    def _feed(self, text: str) -> list[Event]:
        tape = self._tape
        if self._over:
            return [Dropped(text)]
        tape.load(text)
        self._run()
        self._quiet = self._state is self._prose and not tape.line_start and tape.pos == len(tape.buf)
        return self._taken()

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
        inner = Parser(self._tools, labels=self._labels, max_object=self._tape.max_object)
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

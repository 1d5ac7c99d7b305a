"""An object as it is read, with the text it is read from, and the answer in it as it is written."""

from enum import Enum, auto

from enfilade_cot.events import Answer, Event
from enfilade_cot.labels import Hold
from enfilade_cot.names import clean, is_final
from enfilade_cot.quiet import Quiet, quiet_held
from enfilade_cot.reader import Reader, Status
from enfilade_cot.shapes import ANSWER_KEY, FIRST_KEYS, INPUT_KEYS, WRAPPERS, letters, name_in, thought
from enfilade_cot.tape import Tape
from enfilade_cot.trimmer import Trimmer

_ENDS = ("```", "~~~", "</")


class Reading(Enum):
    """How far an object is."""

    MORE = auto()
    DONE = auto()
    BROKEN = auto()
    TOO_LONG = auto()


class ObjectText:
    """Reads an object (or a list) off the tape and holds its text, so that it can be shown or put back.

    Args:
        tape: Where to read; the object starts at its place, white space may come first.
        stream: Whether the text of a final answer may leave while it is written.
        labelled: Whether a label said that this is an action; else it must begin like one.

    Attributes:
        reader: The reader.
        answered: Whether an answer is being given out; then the text is not held any more.
    """

    def __init__(self, tape: Tape, *, stream: bool = True, labelled: bool = False) -> None:
        self.reader = Reader(tape.grammar, tap=self._is_answer if stream else None)
        self.answered = False
        self._labelled = labelled
        self._is_other: bool | None = None
        self._tape = tape
        self._pieces: list[str] = []
        self._size = 0
        self._trimmer = Trimmer()

    @property
    def text(self) -> str:
        """What was read so far."""
        return "".join(self._pieces)

    def read(self) -> Reading:
        """Reads on."""
        tape = self._tape
        end = self.reader.advance(tape.buf, tape.pos, eof=tape.eof)
        if not self.answered:
            self._size += end - tape.pos
            self._pieces.append(tape.buf[tape.pos : end])
        tape.pos = end
        if self.reader.tapped:
            self._give_answer()
            return self._progress()
        return Reading.TOO_LONG if self._size > tape.max_object else self._progress()

    def quiet(self) -> Quiet | None:
        """How the inside of a string may go by."""
        closer = self.reader.plain_closer
        if closer is None:
            return None
        if self.answered:
            return self._trimmer.quiet(closer + "\\") if self.reader.streaming else None
        return quiet_held(closer + "\\", self._hold)

    def _hold(self, text: str) -> list[Event] | None:
        if self._size + len(text) > self._tape.max_object:
            return None
        self._size += len(text)
        self._pieces.append(text)
        self.reader.pass_plain(text)
        return []

    def cut_to_size(self) -> str:
        """Puts what is too much back, so that the place does not depend on the chunks; gives the rest."""
        text = self.text
        self._tape.push_back(text[self._tape.max_object :])
        return text[: self._tape.max_object]

    def lacks_brackets(self) -> bool | None:
        """Whether a broken object lacks nothing but its last brackets, for something else stands where they should.

        Returns:
            None while more text is needed; on True the object is closed.
        """
        tape = self._tape
        if not self.reader.closable:
            return False
        follows = _follows(tape)
        return self.reader.close() if follows else follows

    def _progress(self) -> Reading:
        if self.reader.status is Status.DONE:
            return Reading.DONE
        return Reading.BROKEN if self.reader.status is Status.BROKEN else Reading.MORE

    @property
    def is_other(self) -> bool:
        """Whether it begins like no action."""
        if self._is_other is None:
            key = self.reader.first_key
            if self._labelled or key is None:
                return False
            self._is_other = letters(key) not in FIRST_KEYS
        return self._is_other

    def _is_answer(self, reader: Reader, at: int) -> bool:
        """Whether the string that starts at `at` is the final answer."""
        tape = self._tape
        if self.is_other:
            return False
        return self._size + at - tape.pos <= tape.max_object and _names_answer(reader, tape.tools)

    def _give_answer(self) -> None:
        if not self.answered:
            self.answered = True
            said = thought(self.reader.frames[0].items if self.reader.frames else self.reader.value)
            self._tape.think(said)
            self._tape.settle(Answer(""))
            self._pieces.clear()
        text = self._trimmer.feed("".join(self.reader.pieces))
        self.reader.pieces.clear()
        if text:
            self._tape.settle(Answer(text))


def _names_answer(reader: Reader, tools: frozenset[str]) -> bool:
    *outer, last = reader.frames
    for frame in outer:
        if not isinstance(frame.items, dict) or letters(frame.key) not in WRAPPERS or name_in(frame.items):
            return False
    if not isinstance(last.items, dict):
        return False
    named = name_in(last.items)
    key = letters(last.key)
    if named is None:
        return key == ANSWER_KEY
    name = clean(named[1], tools)
    return key in INPUT_KEYS and name not in tools and is_final(name)


def _follows(tape: Tape) -> bool | None:
    """Whether a line begins at the place that is no part of an object: a label, a fence, a closing tag."""
    text, at = tape.buf, tape.pos
    if text.startswith(_ENDS, at):
        return True
    if not tape.eof and any(end.startswith(text[at : at + len(end)]) for end in _ENDS):
        return None
    label = tape.grammar.match(text, at, eof=tape.eof)
    return None if label is Hold.MORE else label is not None

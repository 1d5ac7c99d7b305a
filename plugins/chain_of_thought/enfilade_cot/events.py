"""What the parser makes of a reply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from enfilade_cot.spacing import trim

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A value that JSON can carry."""


@dataclass(slots=True)
class Thought:
    """Text that is neither an action nor an answer: a labelled thought, or text without any label.

    Attributes:
        text: As the model wrote it, without its label.
        reasoning: Whether it stood in a `<think>` block; such text is never an answer.
    """

    text: str
    reasoning: bool = False


@dataclass(slots=True)
class Action:
    """A tool the model asks for.

    Attributes:
        name: The tool's name as the model wrote it, without quotes and markup around it.
        input: The input as a value: an object, a list, a string, a number; `{}` when there is none.
        raw: The text it was read from, label included.
        known: Whether the menu has a tool of that name.
        rest: What else stood in the action's object, where it had no input: arguments may have been meant.
    """

    name: str
    input: Json
    raw: str
    known: bool = True
    rest: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class Answer:
    """Text of the final answer, trimmed at both ends of the whole. An empty answer gives one event with no text."""

    text: str


@dataclass(slots=True)
class ParseError:
    """An action that cannot be read.

    Attributes:
        reason: What is wrong and what to write instead, for the model.
        raw: The text in question.
    """

    reason: str
    raw: str


@dataclass(slots=True)
class Dropped:
    """Text that counts for nothing: what follows an action, an action named "none"."""

    text: str


@dataclass(slots=True)
class Mark:
    """Here the answer begins, should the reply end without an action, an answer and an error.

    The answer of such a reply is its thought text (reasoning left out) from the last mark on.
    """


Event = Thought | Action | Answer | ParseError | Dropped | Mark


def joined(events: Iterable[Event]) -> list[Event]:
    """Joins neighbouring texts of one kind; what is left does not depend on how the reply was cut into chunks."""
    result: list[Event] = []
    for key, group in groupby(events, _sort):
        if key is None:
            result.extend(group)
        else:
            text = "".join(event.text for event in group if isinstance(event, Thought | Answer | Dropped))
            result.append(Thought(text, key[1]) if key[0] is Thought else key[0](text))
    return result


def _sort(event: Event) -> tuple[type[Thought] | type[Answer] | type[Dropped], bool] | None:
    if isinstance(event, Thought):
        return Thought, event.reasoning
    return (type(event), False) if isinstance(event, Answer | Dropped) else None


def spoken(events: Iterable[Event]) -> str:
    """The answer of a reply without action, answer and error: its thought text from the last mark on, trimmed."""
    pieces: list[str] = []
    for event in events:
        if isinstance(event, Mark):
            pieces.clear()
        elif isinstance(event, Thought) and not event.reasoning:
            pieces.append(event.text)
    return trim("".join(pieces))

"""What a scripted model says in one turn."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from enfilade_sdk.prompts import ModelRequest, Usage


@dataclass(frozen=True, slots=True)
class CallOf:
    """A tool call in a turn.

    Attributes:
        name: The tool's name as the model writes it.
        arguments: An object, or the text that the model writes, which need not be JSON.
        id: The call's id; minted when empty.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""

    @property
    def text(self) -> str:
        """The arguments as the model writes them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model: reasoning, then text, then calls; or part of it, and then a failure.

    Attributes:
        text: The text; a list of texts is sent in these chunks.
        calls: Tools the model asks for.
        reasoning: What it thinks; a list of texts is sent in these chunks.
        error: Raised after the chunks, in place of the result.
        hangs: Wait for ever after the chunks, in place of the result, until the call is cancelled.
        finish_reason: Why it ended; None takes `tool_calls` or `stop`, whichever fits.
        usage: Tokens as the provider would report them.
    """

    text: str | Sequence[str] = ""
    calls: Sequence[CallOf] = ()
    reasoning: str | Sequence[str] = ""
    error: Exception | None = None
    hangs: bool = False
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)


Line = Turn | CallOf | str | Sequence[CallOf] | Sequence[str] | Exception
"""A turn, or a short form of one: a call, several calls, a text, a text in chunks, a failure."""

Script = Sequence[Line | Callable[[ModelRequest], Line]]
"""Turns in order; a function is shown the request and gives the turn."""


def turn_of(line: Line) -> Turn:
    """The turn that a short form stands for.

    Raises:
        TypeError: It stands for none.
    """
    if isinstance(line, Turn):
        return line
    if isinstance(line, CallOf):
        return Turn(calls=(line,))
    if isinstance(line, Exception):
        return Turn(error=line)
    if isinstance(line, str):
        return Turn(text=line)
    if isinstance(line, Sequence):
        calls = [item for item in line if isinstance(item, CallOf)]
        texts = [item for item in line if isinstance(item, str)]
        if len(line) in {len(calls), len(texts)}:
            return Turn(calls=calls, text=texts)
    raise TypeError(f"a turn is a Turn, a CallOf, a list of these, a text, a list of texts or an error, not {line!r}")


def chunks_of(text: str | Sequence[str]) -> Sequence[str]:
    """The chunks a text is sent in."""
    if isinstance(text, str):
        return (text,) if text else ()
    return text

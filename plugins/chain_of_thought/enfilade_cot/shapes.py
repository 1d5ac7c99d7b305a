"""The shapes in which an action can be written as an object."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from enfilade_cot.events import Json
from enfilade_cot.names import clean, is_final, is_finish, is_none
from enfilade_cot.reader import read_whole

NAME_KEYS = ("action", "toolname", "tool", "functionname", "actionname", "function", "name", "recipientname")
"""Keys of the tool's name; the first that holds a text counts. Keys are compared by their letters alone."""

INPUT_KEYS = (
    "actioninput",
    "toolinput",
    "arguments",
    "parameters",
    "input",
    "args",
    "params",
    "inputs",
    "kwargs",
    "toolargs",
    "toolarguments",
    "toolparameters",
    "actionarguments",
    "actionparameters",
    "functionarguments",
    "functionargs",
    "functionparameters",
    "actionargs",
)
"""Keys of its input."""

WRAPPERS = frozenset(
    {"toolcall", "toolcalls", "functioncall", "functioncalls", "function", "action", "actions", "tool", "tools", "call"}
    | {"calls", "tooluse", "tooluses", "invoke", "command"}
)
"""Keys that may hold a whole action, or a list of them."""

ANSWER_KEY = "finalanswer"
"""A key that holds the final answer without naming an action."""

THOUGHT_KEYS = frozenset({"thought", "thoughts", "reasoning"})

FIRST_KEYS = frozenset(NAME_KEYS) | frozenset(INPUT_KEYS) | WRAPPERS | THOUGHT_KEYS | {ANSWER_KEY, "id", "type"}
"""Keys an action may begin with; an object that begins otherwise is not looked at further, unless a label says so."""

TEXT_KEYS = ("answer", "finalanswer", "text", "output", "result", "response", "content", "message")
"""Keys of an answer's text inside another object."""

_PARALLEL = "multi_tool_use.parallel"
"""What some models of OpenAI wrap several calls in."""

_MAX_NESTING = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One action, or the final answer (then the input is a text).

    Attributes:
        name: The tool's name; empty for the final answer.
        input: Its input.
        has_input: Whether an input was given.
        key: The key that named it, its letters alone.
        rest: What else stands in its object, where no input was given.
    """

    name: str
    input: Json
    has_input: bool = True
    key: str = "action"
    rest: Mapping[str, Json] = field(default_factory=dict)

    @property
    def final(self) -> bool:
        """Whether it is the final answer."""
        return not self.name


def letters(key: str) -> str:
    """The letters of a key, in lower case: `Action Input` and `action_input` are the same."""
    return "".join(c for c in key.lower() if c.isalpha())


def steps(value: Json, tools: frozenset[str], *, labelled: bool) -> list[Step] | None:
    """Reads the actions in a value.

    Args:
        value: An object, or a list of objects.
        tools: The names on the menu.
        labelled: Whether a label said that this is an action; then a wrapper may have any name.

    Returns:
        The actions in order, an empty list for one that is "none", or None when the value is no action.
    """
    return _steps(value, tools, labelled=labelled, depth=0)


def thought(value: Json) -> str:
    """The thought that an action object carries beside its action; empty when there is none."""
    if not isinstance(value, dict):
        return ""
    found = _first(value, THOUGHT_KEYS)
    return found[1] if found and isinstance(found[1], str) else ""


def keys(value: Mapping[str, Json]) -> set[str]:
    """The keys of an object, their letters alone."""
    return {letters(key) for key in value}


def answer_text(value: Json) -> str:
    """The final answer in the input of an action; an object with one text under a plain key is that text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        if isinstance(inner, str) and letters(key) in TEXT_KEYS:
            return inner
    return json.dumps(value, ensure_ascii=False)


def name_in(value: Mapping[str, Json]) -> tuple[str, str] | None:
    """The key and the text that name the action of an object that may still be incomplete."""
    for wanted in NAME_KEYS:
        for key, inner in value.items():
            if letters(key) == wanted and isinstance(inner, str):
                return wanted, inner
    return None


def _steps(value: Json, tools: frozenset[str], *, labelled: bool, depth: int) -> list[Step] | None:
    if depth > _MAX_NESTING:
        return None
    if isinstance(value, list):
        return _all(value, tools, labelled=labelled, depth=depth)
    if not isinstance(value, dict):
        return None
    named = name_in(value)
    if named is not None:
        return _named(named, value, tools, depth=depth)
    answers = _answers(value)
    if answers:
        return answers
    wrapped = _wrapped(value, tools, labelled=labelled, depth=depth)
    if wrapped is None:
        nameless = _first(value, NAME_KEYS)
        return [] if nameless and nameless[1] is None else None
    return wrapped


def _answers(value: Mapping[str, Json]) -> list[Step]:
    """The final answer beside an action that is none: under its own key, or a plainer one beside a thought."""
    final = _first(value, (ANSWER_KEY,))
    if final is None and _first(value, THOUGHT_KEYS):  # a step of the format without an action
        final = _first(value, ("answer",))
    return [] if final is None else [Step("", answer_text(final[1]))]


def _named(named: tuple[str, str], value: Mapping[str, Json], tools: frozenset[str], *, depth: int) -> list[Step]:
    key, written = named
    name = clean(written, tools)
    found = _first(value, INPUT_KEYS)
    if name not in tools:
        if is_none(name):
            return _answers(value)
        if written == _PARALLEL and found and isinstance(found[1], dict):
            return _steps(found[1], tools, labelled=True, depth=depth + 1) or [Step(name, found[1], key=key)]
        if is_final(name) or (found and is_finish(name)):
            answer = found or _first(value, TEXT_KEYS)
            return [Step("", answer_text(answer[1] if answer else None), found is not None, key)]
    if found is None:
        rest = {k: v for k, v in value.items() if letters(k) != key and letters(k) not in THOUGHT_KEYS}
        return [Step(name, {}, has_input=False, key=key, rest=rest)]
    return [Step(name, _input(*found), key=key)]


def _input(key: str, value: Json) -> Json:
    """Arguments in the OpenAI form are a text that holds an object."""
    if key == "arguments" and isinstance(value, str):
        whole, inner = read_whole(value, strict=True)
        return inner if whole and isinstance(inner, dict) else value
    return value


def _wrapped(value: Mapping[str, Json], tools: frozenset[str], *, labelled: bool, depth: int) -> list[Step] | None:
    for key, inner in value.items():
        if isinstance(inner, dict | list) and (letters(key) in WRAPPERS or (labelled and len(value) == 1)):
            found = _steps(inner, tools, labelled=labelled, depth=depth + 1)
            if found:
                return found
    if labelled and len(value) == 1:
        key, inner = next(iter(value.items()))
        if key in tools:
            return [Step(key, inner)]
    return None


def _all(values: list[Json], tools: frozenset[str], *, labelled: bool, depth: int) -> list[Step] | None:
    result: list[Step] = []
    for value in values:
        found = _steps(value, tools, labelled=labelled, depth=depth + 1) if isinstance(value, dict) else None
        if found is None:
            return None
        result += found
    return result


def _first(value: Mapping[str, Json], wanted: Iterable[str]) -> tuple[str, Json] | None:
    for name in wanted:
        for key, inner in value.items():
            if letters(key) == name:
                return name, inner
    return None

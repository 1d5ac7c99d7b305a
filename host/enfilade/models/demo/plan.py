"""Which tools a question asks for, by the words in it."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from enfilade.models.demo.places import zone_in
from enfilade.models.demo.sums import expression_in
from enfilade.models.demo.values import Values, file_in, without_names
from enfilade.models.demo.words import name_words, tool_words, words_of
from enfilade_sdk.prompts import PromptTool

_GENERIC = frozenset({"current", "data", "info", "information", "item", "local", "new", "now", "search", "read"})
_ENOUGH = 2
_MAX_CALLS = 4


class Step(NamedTuple):
    """A call that the rules would make."""

    name: str
    arguments: dict[str, Any]


class _Sign(NamedTuple):
    """What in a question, and what in a tool, points to one another."""

    tool: frozenset[str]
    question: Callable[[str], object]


_SIGNS = (
    _Sign(frozenset({"calculate", "expression"}), expression_in),
    _Sign(
        frozenset({"time", "timezone", "date"}),
        lambda text: words_of(text) & {"time", "date", "day", "today", "timezone"} or (zone_in(text) and "now" in text),
    ),
    _Sign(frozenset({"file", "path", "document"}), file_in),
)


def plan(question: str, tools: Sequence[PromptTool], *, must: bool = False) -> list[Step]:
    """The calls a question asks for, in the order of the menu; none when no tool fits.

    A tool fits when the question has what the tool is for (a sum, a time, a file), when it has every telling word of
    the tool's name, or, as the best of those left, when enough words of its description are in it; and then only if
    all required arguments can be found. Where none fits, a knowledge base is searched.

    Args:
        question: The question.
        tools: The menu.
        must: Whether a tool has to be called: then the best one whose arguments can be found is, fit or not.
    """
    asked = words_of(without_names(question))
    fit = [tool for tool in tools if _has_sign(tool, question) or _is_named(tool, asked, question)]
    scored = sorted(tools, key=lambda tool: -_score(tool, asked))
    if not fit:
        fit = [tool for tool in scored[:1] if _score(tool, asked) >= _ENOUGH]
    steps = [step for tool in fit if (step := _step(tool, question)) is not None]
    if not steps and not must:
        steps = [step for tool in tools if _searches(tool) and asked and (step := _step(tool, question)) is not None][
            :1
        ]
    if must and not steps:
        steps = [step for tool in scored if (step := _step(tool, question)) is not None][:1]
    return steps[:_MAX_CALLS]


def _step(tool: PromptTool, question: str) -> Step | None:
    arguments = Values(question).arguments(tool)
    return None if arguments is None else Step(tool.name, arguments)


def _has_sign(tool: PromptTool, question: str) -> bool:
    names = name_words(tool) | {word for word in tool_words(tool) if word in ("expression", "timezone", "path")}
    return any(names & sign.tool and sign.question(question) for sign in _SIGNS)


def _is_named(tool: PromptTool, asked: set[str], question: str) -> bool:
    if re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", question, re.IGNORECASE):
        return True
    telling = name_words(tool) - _GENERIC
    return bool(telling) and telling <= asked


def _searches(tool: PromptTool) -> bool:
    """Whether a tool looks things up for any question: it is called so, and needs a query alone."""
    return tool.name.startswith("search_") and tool.parameters.get("required") == ["query"]


def _score(tool: PromptTool, asked: set[str]) -> int:
    return 2 * len(name_words(tool) & asked) + len(tool_words(tool) & asked)

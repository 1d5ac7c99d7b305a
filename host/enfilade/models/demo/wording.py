"""The demo model's sentences."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from enfilade.models.demo.plan import Step
from enfilade.models.demo.words import words_of

LABEL = "demo model: rules, not a language model"

_SHOWN = 2000
_QUOTED = 2
_LINE_ENDS = re.compile(r"\n|(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
_PASSAGE = re.compile(r"\[1\] (?P<source>[^\n]+)\n(?P<text>.+?)(?=\n\n\[2\] |\Z)", re.DOTALL)


class Finding(NamedTuple):
    """A call that was made, and what came of it."""

    step: Step
    text: str
    is_error: bool = False


def answer(findings: Sequence[Finding]) -> str:
    """An answer made from what the tools said."""
    return "\n".join(map(_sentence, findings)) + f"\n\n({LABEL})"


def no_tool(names: Sequence[str]) -> str:
    """The answer when no rule applies."""
    menu = f"none of the tools I was given ({', '.join(names)}) fits it" if names else "I was given no tool for it"
    return (
        f"I am the {LABEL}. I can only call tools whose name and description share words with the question, and "
        f"{menu}. Offer a tool (such as -t calculator), or ask a real model with -m and --base-url."
    )


def _sentence(finding: Finding) -> str:
    text = finding.text.strip()
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + " [...]"
    passage = _PASSAGE.match(text)
    expression = finding.step.arguments.get("expression")
    if finding.is_error:
        return f"{finding.step.name} could not do it: {shown}"
    if isinstance(expression, str) and "\n" not in shown:
        return f"{expression} = {shown}."
    if passage is not None:
        return _cited(passage, words_of(str(finding.step.arguments.get("query", ""))))
    return f"{finding.step.name} says: {shown}"


def _cited(passage: re.Match[str], asked: set[str]) -> str:
    """What the first of numbered passages says of the words that were asked for, with its source."""
    lines = [line.strip() for line in _LINE_ENDS.split(passage["text"]) if line.strip()]
    found = sorted(lines, key=lambda line: -len(words_of(line) & asked))[:_QUOTED]
    said = " [...] ".join(line for line in lines if line in found)
    return f"{said[:_SHOWN]}\n\nSource: [1] {passage['source']}"

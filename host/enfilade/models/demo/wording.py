"""The demo model's sentences."""

from collections.abc import Sequence
from typing import NamedTuple

from enfilade.models.demo.plan import Step

LABEL = "demo model: rules, not a language model"

_SHOWN = 2000


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
    expression = finding.step.arguments.get("expression")
    if finding.is_error:
        return f"{finding.step.name} could not do it: {shown}"
    if isinstance(expression, str) and "\n" not in shown:
        return f"{expression} = {shown}."
    return f"{finding.step.name} says: {shown}"

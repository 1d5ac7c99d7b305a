"""The demo model in text form: `Thought`, `Action`, `Observation`, final answer."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from enfilade.models.demo.plan import Step, plan
from enfilade.models.demo.wording import Finding, answer, no_tool
from enfilade_sdk.prompts import AssistantMessage, PromptMessage, PromptTool, SystemMessage, UserMessage

_FORMAT = re.compile(r"^\W*Action\W*:", re.MULTILINE | re.IGNORECASE)
_FINAL = re.compile(r"final\s?answer", re.IGNORECASE)
_QUESTION = re.compile(r"^(?:Question|Human|User|Query)\s*:\s*(.+)$", re.MULTILINE | re.IGNORECASE)
_OBSERVED = re.compile(
    r"Action\s*:\s*(?P<action>.*?)\s*(?:\n\s*Action[ _]Input\s*:\s*(?P<input>.*?)\s*)?\n\s*Observation\s*:\s*"
    r"(?P<text>.*?)(?=\n\s*(?:Thought|Action|Observation|Question|Final\s?Answer)\s*:|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_LISTED = re.compile(
    r"^[ \t]*(?:[-*\u2022]|\d+[.)])?[ \t]*`?([A-Za-z_][\w-]{0,63})`?[ \t]*(?:\([^)\n]*\))?[ \t]*:[ \t]*(.*)$",
    re.MULTILINE,
)
_OPENING = re.compile(r"[{\[]")


class Scene(NamedTuple):
    """What a prompt in text form asks for.

    Attributes:
        tools: The menu as the prompt describes it.
        question: The question.
        findings: The calls made so far.
        two_lines: Whether the prompt wants `Action:` and `Action Input:` instead of one JSON object.
        final: The label of the answer, as the prompt writes it.
    """

    tools: list[PromptTool]
    question: str
    findings: list[Finding]
    two_lines: bool
    final: str


def scene_of(messages: Sequence[PromptMessage]) -> Scene | None:
    """Reads a prompt; None when it does not ask for the text form."""
    rules = "\n".join(_text(message) for message in messages if isinstance(message, SystemMessage))
    last = max((at for at, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    said = _text(messages[last]) if last >= 0 else ""
    is_one_text = not _FORMAT.search(rules) and bool(_FORMAT.search(said))
    rules = said if is_one_text else rules
    if not _FORMAT.search(rules) or "observation" not in rules.lower():
        return None
    so_far = "\n".join(_text(message) for message in messages[last + 1 :] if isinstance(message, AssistantMessage))
    question = said
    if is_one_text:
        asked = list(_QUESTION.finditer(said))
        question = asked[-1][1] if asked else said.strip().splitlines()[-1]
        so_far = (said[asked[-1].end() :] if asked else "") + so_far
    final = _FINAL.search(rules)
    two_lines = bool(re.search(r"^\W*Action Input\W*:", rules, re.MULTILINE | re.IGNORECASE))
    return Scene(_menu(rules), question.strip(), _findings(so_far), two_lines, final[0] if final else "Final Answer")


def reply(scene: Scene) -> str:
    """The next words: a thought and one action, or a thought and the answer."""
    done = [finding.step.name for finding in scene.findings]
    steps = [step for step in plan(scene.question, scene.tools) if step.name not in done]
    if steps:
        step = steps[0]
        return f"Thought: By its words, the question asks for {step.name}.\n{_action(step, two_lines=scene.two_lines)}"
    if scene.findings:
        return f"Thought: The tools have said what they can.\n{scene.final}: {answer(scene.findings)}"
    return f"Thought: No rule applies.\n{scene.final}: {no_tool([tool.name for tool in scene.tools])}"


def _action(step: Step, *, two_lines: bool) -> str:
    arguments = json.dumps(step.arguments, ensure_ascii=False)
    if two_lines:
        return f"Action: {step.name}\nAction Input: {arguments}"
    return f'Action: {{"action": {json.dumps(step.name)}, "action_input": {arguments}}}'


def _findings(text: str) -> list[Finding]:
    return [
        Finding(_step(found["action"], found["input"]), found["text"].strip()) for found in _OBSERVED.finditer(text)
    ]


def _step(action: str, given: str | None) -> Step:
    if given is not None:
        return Step(action.strip(" `\"'"), _object(given))
    form = _object(action)
    name = form.get("action") or form.get("name") or action
    arguments = form.get("action_input") or form.get("arguments")
    return Step(str(name), arguments if isinstance(arguments, dict) else {})


def _object(text: str) -> dict[str, Any]:
    start = text.find("{")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, max(start, 0))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _menu(rules: str) -> list[PromptTool]:
    """The tools a prompt describes: as JSON objects with a name, or a line for each with a schema in it."""
    found = {tool.name: tool for value in _values(rules) for tool in _tools(value)}
    if not found:
        for line in _LISTED.finditer(rules):
            schema = _schema(line[2])
            if schema is not None:
                found[line[1]] = PromptTool(name=line[1], description=line[2], parameters=schema)
    return list(found.values())


def _values(text: str) -> Iterator[Any]:
    """Every JSON object or list in a text, the outermost ones."""
    decoder, at = json.JSONDecoder(strict=False), 0
    while (begin := _OPENING.search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            at = begin.end()
        else:
            yield value


def _tools(value: Any) -> Iterator[PromptTool]:
    if isinstance(value, list):
        for item in value:
            yield from _tools(item)
    elif isinstance(value, dict):
        inner = value.get("function")
        form: dict[str, Any] = inner if isinstance(inner, dict) else value
        schema = form.get("parameters", form.get("input_schema", form.get("args")))
        if isinstance(form.get("name"), str) and isinstance(schema, dict):
            description = form.get("description")
            yield PromptTool(
                name=form["name"],
                description=description if isinstance(description, str) else "",
                parameters=schema if "properties" in schema or "type" in schema else {"properties": schema},
            )


def _schema(text: str) -> dict[str, Any] | None:
    return next((value for value in _values(text) if isinstance(value, dict) and "properties" in value), None)


def _text(message: PromptMessage) -> str:
    if isinstance(message.content, list):
        return "\n".join(part.text for part in message.content if part.type == "text")
    return message.content or ""

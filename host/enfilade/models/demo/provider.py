"""The demo model as a provider."""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Sequence

from enfilade.models.demo.plan import Step, plan
from enfilade.models.demo.react import reply, scene_of
from enfilade.models.demo.wording import LABEL, Finding, answer, no_tool
from enfilade.models.settings import ModelSettings
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    PromptMessage,
    PromptTool,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolMessage,
    Usage,
    UserMessage,
)

_TOKEN = re.compile(r"\s*\S+\s?|\s+")
_CHARACTERS_A_TOKEN = 4
_REPORTED = f"{LABEL}; tokens are an estimate (characters / 4)"


class DemoProvider:
    """Rules, not a language model: deterministic, without network, and it says so in every answer.

    It picks tools by the words they share with the question, takes their arguments out of the question, and makes its
    answer from a template and the tools' results. It speaks both forms: calls, when tools are offered, and
    `Thought` / `Action` text, when the prompt asks for that. Tokens are estimated, which `ModelResult.model` says.
    """

    def info(self, model: ModelSettings) -> ModelInfo:
        """What a strategy is told of the model."""
        return model.info()

    def warm(self, model: ModelSettings) -> None:
        """There is nothing to prepare."""

    async def stream(
        self, model: ModelSettings, request: ModelRequest
    ) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Asks the rules once; see `ModelProvider.stream`."""
        started = time.perf_counter()
        text, steps = _say(request)
        text = _cut(text, request.stop)
        for piece in _TOKEN.findall(text) if request.stream and model.streaming else [text] if text else []:
            yield ModelChunk(piece)
            await asyncio.sleep(0)  # each piece leaves by itself
        calls = _calls(steps, _rounds(request.messages))
        for index, call in enumerate(calls):
            yield ModelChunk(tool_calls=(ToolCallDelta(index, call.id, call.name, call.arguments),))
        yield ModelResult(
            message=AssistantMessage(content=text or None, tool_calls=calls),
            finish_reason="tool_calls" if calls else "stop",
            usage=_estimate(request, text, calls),
            model=_REPORTED,
            seconds=time.perf_counter() - started,
        )

    async def aclose(self) -> None:
        """There is nothing to give back."""


def _say(request: ModelRequest) -> tuple[str, list[Step]]:
    """What the rules have to say: text, or calls."""
    if not request.tools:
        scene = scene_of(request.messages)
        if scene is not None:
            return reply(scene), []
    findings = _findings(request.messages)
    if findings:
        return answer(findings), []
    question = _question(request.messages)
    steps = plan(question, _allowed(request), must=_must(request))
    return ("", steps) if steps else (no_tool([tool.name for tool in request.tools]), [])


def _allowed(request: ModelRequest) -> Sequence[PromptTool]:
    choice = request.tool_choice
    if choice == "none":
        return ()
    function = choice.get("function") if isinstance(choice, dict) else None
    name = (
        function.get("name")
        if isinstance(function, dict)
        else choice.get("name")
        if isinstance(choice, dict)
        else choice
    )
    named = [tool for tool in request.tools if tool.name == name]
    return named or request.tools


def _must(request: ModelRequest) -> bool:
    return request.tool_choice not in (None, "auto", "none")


def _findings(messages: Sequence[PromptMessage]) -> list[Finding]:
    """The results since the last question, each with the call it answers."""
    steps: dict[str, Step] = {}
    findings: list[Finding] = []
    for message in messages:
        if isinstance(message, UserMessage):
            findings = []
        elif isinstance(message, AssistantMessage):
            steps = {call.id: Step(call.name, call.parsed or _parsed(call.arguments)) for call in message.tool_calls}
        elif isinstance(message, ToolMessage):
            step = steps.get(message.tool_call_id, Step(message.name or "a tool", {}))
            findings.append(Finding(step, message.content, message.is_error))
    return findings


def _parsed(arguments: str) -> dict[str, object]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _question(messages: Sequence[PromptMessage]) -> str:
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            content = message.content
            if isinstance(content, str):
                return content
            return "\n".join(part.text for part in content if isinstance(part, TextPart))
    return ""


def _rounds(messages: Sequence[PromptMessage]) -> int:
    return sum(isinstance(message, AssistantMessage) for message in messages)


def _calls(steps: Sequence[Step], rounds: int) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            id=f"demo{rounds}x{number}",
            name=step.name,
            arguments=json.dumps(step.arguments, ensure_ascii=False),
            parsed=step.arguments,
        )
        for number, step in enumerate(steps)
    )


def _cut(text: str, stop: Sequence[str]) -> str:
    ends = [at for word in stop if word and (at := text.find(word)) >= 0]
    return text[: min(ends)] if ends else text


def _estimate(request: ModelRequest, text: str, calls: Sequence[ToolCall]) -> Usage:
    asked = sum(_size(message) for message in request.messages)
    asked += sum(len(json.dumps(tool.to_openai())) for tool in request.tools)
    said = len(text) + sum(len(call.name) + len(call.arguments) for call in calls)
    prompt, completion = -(-asked // _CHARACTERS_A_TOKEN), -(-said // _CHARACTERS_A_TOKEN)
    return Usage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)


def _size(message: PromptMessage) -> int:
    if isinstance(message.content, list):
        return sum(len(part.text) for part in message.content if isinstance(part, TextPart))
    return len(message.content or "")

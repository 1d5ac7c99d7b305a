"""A reply to any request that moves a strategy along: calls a tool once, then answers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from enfilade_sdk.prompts import ModelRequest, PromptMessage, TextPart, ToolMessage
from enfilade_sdk.testing.turn import CallOf, Line, Turn

Reply = Callable[[ModelRequest], Line]
"""Gives the turn for a request."""


def obliging(answer: str, tool: str, arguments: dict[str, Any], called: str) -> Reply:
    """A reply that asks for a tool where there is one to ask for, and answers once it has been called.

    It speaks the form the strategy asks for: tool calls when tools are offered; `Action:` text, with the action's
    input as JSON or on a line of its own, when the prompt describes that.

    Args:
        answer: The answer.
        tool: The tool to ask for.
        arguments: What to call it with.
        called: A text that stands in the prompt once it was called.
    """

    def reply(request: ModelRequest) -> Line:
        prompt = "\n".join(_texts(request))
        if called in prompt or any(isinstance(message, ToolMessage) for message in request.messages):
            return _said(prompt, answer)
        if request.tools and request.tool_choice != "none":
            return Turn(text="One moment.", calls=[CallOf(tool, arguments)])
        if "Action" in prompt and tool in prompt:
            return _acted(prompt, tool, arguments)
        return _said(prompt, answer)

    return reply


def _said(prompt: str, answer: str) -> Line:
    return ("Thought: I know it.\n", f"Final Answer: {answer}") if "Action" in prompt else (answer[:3], answer[3:])


def _acted(prompt: str, tool: str, arguments: dict[str, Any]) -> Line:
    if "Action Input" in prompt:
        return ("Thought: I look.\n", f"Action: {tool}\n", f"Action Input: {json.dumps(arguments)}\n")
    return ("Thought: I look.\n", f"Action: {json.dumps({'action': tool, 'action_input': arguments})}\n")


def _texts(request: ModelRequest) -> Iterator[str]:
    for message in request.messages:
        yield from _message_texts(message)


def _message_texts(message: PromptMessage) -> Iterator[str]:
    if isinstance(message.content, str):
        yield message.content
    elif message.content is not None:
        yield from (part.text for part in message.content if isinstance(part, TextPart))

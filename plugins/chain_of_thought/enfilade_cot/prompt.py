"""The prompt of a round: messages for a chat model, one text for a base model."""

import json
from collections.abc import Sequence

from enfilade_cot.scratchpad import Scratchpad, action_text
from enfilade_cot.template import FORBIDDEN, WITHDRAWN, filled
from enfilade_sdk.prompts import (
    AssistantMessage,
    PromptMessage,
    PromptTool,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from enfilade_sdk.question import question, with_names
from enfilade_sdk.session import Session

STOP = ("\nObservation:",)
"""Stops a reply before an invented observation: the label with its line break, since the bare word may be a thought."""

STOP_CHINESE = (*STOP, "\n观察:", "\n观察：")  # noqa: RUF001 - the full-width colon is meant


class Prompt:
    """Makes the prompts of one run.

    Args:
        session: The run.
        template: The system prompt with its places.
        instruction: The agent's instruction; empty takes a system message of the history instead.
        query: The question.
    """

    def __init__(self, session: Session, template: str, instruction: str, query: str) -> None:
        self._template = template
        self._tools = session.tools.list()
        self._query = query
        self._files = session.files
        self._vision = session.model.info.vision
        spoken = [message.content for message in session.history if isinstance(message, SystemMessage)]
        self._instruction = instruction or "\n\n".join(spoken)
        self._history = flat(session.history)

    def chat(self, scratchpad: Scratchpad, *, last: bool, forbid: bool) -> list[PromptMessage]:
        """System, history, question, and the work so far as the assistant's own words."""
        messages: list[PromptMessage] = []
        system = self._system(withdrawn=last and not forbid)
        if system:
            messages.append(SystemMessage(content=system))
        messages += self._history
        messages.append(UserMessage(content=question(self._query, self._files, vision=self._vision)))
        said = self._said(scratchpad, forbidden=last and forbid)
        if said:
            messages.append(AssistantMessage(content=said))
        return messages

    def completion(self, scratchpad: Scratchpad, *, last: bool, forbid: bool) -> list[PromptMessage]:
        """The same as one text that the model goes on with."""
        texts = [self._system(withdrawn=last and not forbid)]
        for message in self._history:
            label = "Question" if isinstance(message, UserMessage) else "Final Answer"
            texts.append(f"{label}: {_plain(message)}")
        question = f"Question: {with_names(self._query, self._files)}"
        next_words = "Thought:" if self._tools else "Final Answer:"
        work = [question, self._said(scratchpad, forbidden=last and forbid) or next_words]
        texts.append("\n".join(work))
        return [UserMessage(content="\n\n".join(filter(None, texts)))]

    def _system(self, *, withdrawn: bool) -> str:
        if not self._tools:
            return self._instruction
        values = {
            "instruction": self._instruction,
            "tools": "\n".join(_described(tool) for tool in self._tools),
            "tool_names": ", ".join(tool.name for tool in self._tools),
        }
        return filled(WITHDRAWN if withdrawn else self._template, values)

    def _said(self, scratchpad: Scratchpad, *, forbidden: bool) -> str:
        """The work so far, and the label that comes next: what a model adds to it begins a new thought."""
        said = list(filter(None, [scratchpad.text, FORBIDDEN if forbidden and self._tools else ""]))
        return "\n".join([*said, "Thought:"]) if said else ""


def flat(history: Sequence[PromptMessage]) -> list[PromptMessage]:
    """Earlier turns as text only: calls and their results in the format's own words, system messages left out.

    A request that offers no tools may hold no tool messages. Neighbouring messages of the assistant become one.
    """
    messages: list[PromptMessage] = []
    for message in history:
        if isinstance(message, UserMessage):
            messages.append(message)
        elif isinstance(message, AssistantMessage | ToolMessage):
            before = messages[-1] if messages else None
            text = _flat_text(message, goes_on=isinstance(before, AssistantMessage))
            if isinstance(before, AssistantMessage):
                messages[-1] = AssistantMessage(content="\n".join(filter(None, [before.content, text])))
            else:
                messages.append(AssistantMessage(content=text))
    return messages


def _flat_text(message: AssistantMessage | ToolMessage, *, goes_on: bool) -> str:
    if isinstance(message, ToolMessage):
        return f"Observation: {message.content}"
    text = message.content or ""
    if message.tool_calls:
        return "\n".join(filter(None, [text, f"Action: {action_text(message.tool_calls)}"]))
    return f"Final Answer: {text}" if goes_on and text else text


def _described(tool: PromptTool) -> str:
    form = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps(form, ensure_ascii=False)


def _plain(message: PromptMessage) -> str:
    if isinstance(message.content, list):
        return "\n".join(part.text for part in message.content if isinstance(part, TextPart))
    return message.content or ""

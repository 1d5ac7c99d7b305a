"""The work done so far, as text: what the model thought and did, and what it was told."""

import json
from collections.abc import Sequence

from enfilade_cot.events import Json
from enfilade_cot.reader import read_whole
from enfilade_sdk.prompts import ToolCall, ToolMessage

MOST_RAW = 2000
"""Characters of an unreadable action that are shown to the model again."""


class Scratchpad:
    """Grows at its end only, so that a provider's prompt cache holds."""

    def __init__(self) -> None:
        self._entries: list[str] = []

    @property
    def text(self) -> str:
        """All of it; empty at the start."""
        return "\n".join(self._entries)

    def add(self, text: str) -> None:
        """Writes down a text."""
        self._entries.append(text)

    def acted(self, thought: str, calls: Sequence[ToolCall], results: Sequence[ToolMessage]) -> None:
        """Writes down a round with actions; the actions in one form, however the model wrote them."""
        self._think(thought)
        self.add(f"Action: {action_text(calls)}")
        self.add(f"Observation: {observation_text(results)}")

    def failed(self, thought: str, raw: str, reason: str) -> None:
        """Writes down a reply whose action could not be read, and why."""
        self._think(thought)
        raw = raw.strip()
        if raw and raw not in thought:
            self.add(raw if len(raw) <= MOST_RAW else f"{raw[:MOST_RAW]} [...]")
        self.add(f"Observation: The reply could not be used: {reason}.")

    def _think(self, thought: str) -> None:
        if thought:
            self.add(f"Thought: {thought}")


def action_text(calls: Sequence[ToolCall]) -> str:
    """Calls in the prompt's own form."""
    forms = [{"action": call.name, "action_input": _given(call)} for call in calls]
    return json.dumps(forms[0] if len(forms) == 1 else forms, ensure_ascii=False)


def _given(call: ToolCall) -> Json:
    """The arguments as a value; text that is no JSON stays text."""
    if call.parsed is not None:
        return call.parsed
    whole, value = read_whole(call.arguments, strict=True)
    return value if whole else call.arguments


def observation_text(results: Sequence[ToolMessage]) -> str:
    """What the tools said; each under its number and name when there are several."""
    if len(results) == 1:
        return results[0].content
    return "\n".join(f"[{number}] {result.name}: {result.content}" for number, result in enumerate(results, 1))

"""What came out of a run."""

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Self

from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.messages import (
    JsonPayload,
    LogPayload,
    MessageType,
    TextPayload,
    ToolInvokeMessage,
    VariablePayload,
)
from enfilade_sdk.prompts import ModelRequest
from enfilade_sdk.testing.scripted_tools import RecordedCall


@dataclass(slots=True)
class StrategyRun:
    """All there is to look at after a run.

    Attributes:
        messages: Every message, in order.
        requests: What the model was asked, in order.
        calls: The tool calls that arrived, in order.
        refused: Calls that were not granted.
        error: How the run failed; None when it did not. What was delivered before is in `messages` all the same.
    """

    messages: list[ToolInvokeMessage] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    calls: list[RecordedCall] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    error: EnfiladeError | None = None

    def check(self) -> Self:
        """The run itself.

        Raises:
            EnfiladeError: The run failed.
        """
        if self.error is not None:
            raise self.error
        return self

    @property
    def text(self) -> str:
        """All text for the user, without reasoning."""
        return "".join(text for text, _ in self._texts(reasoning=False))

    @property
    def reasoning(self) -> str:
        """The text that was marked as reasoning."""
        return "".join(text for text, _ in self._texts(reasoning=True))

    @property
    def answer(self) -> str:
        """The text since `meta.round` last changed, as in a host's outcome; all text where it never does."""
        texts = self._texts(reasoning=False)
        last = takewhile(lambda item: item[1].get("round") == texts[-1][1].get("round"), reversed(texts))
        return "".join(reversed([text for text, _ in last]))

    @property
    def logs(self) -> list[LogPayload]:
        """The log's nodes in the order they were opened, each in its last state."""
        nodes: dict[str, LogPayload] = {}
        for message in self.messages:
            if isinstance(message.message, LogPayload):
                nodes[message.message.id] = message.message
        return list(nodes.values())

    @property
    def json(self) -> list[Any]:
        """The JSON objects and lists."""
        return [m.message.json_object for m in self.messages if isinstance(m.message, JsonPayload)]

    @property
    def variables(self) -> dict[str, Any]:
        """The variables, streamed ones joined."""
        found: dict[str, Any] = {}
        for message in self.messages:
            if isinstance(payload := message.message, VariablePayload):
                before = found.get(payload.variable_name, "") if payload.stream else None
                found[payload.variable_name] = (
                    payload.variable_value if before is None else before + payload.variable_value
                )
        return found

    def of_type(self, kind: MessageType | str) -> list[ToolInvokeMessage]:
        """The messages of one type."""
        return [message for message in self.messages if message.type == kind]

    def _texts(self, *, reasoning: bool) -> list[tuple[str, dict[str, Any]]]:
        return [
            (message.message.text, message.meta or {})
            for message in self.messages
            if message.type is MessageType.TEXT and isinstance(message.message, TextPayload)
            if bool((message.meta or {}).get("reasoning")) is reasoning
        ]

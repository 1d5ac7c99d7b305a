"""What a run comes to."""

import base64
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from enfilade.ledger import Cost, RoundEntry
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.messages import LogPayload
from enfilade_sdk.prompts import Usage


class Status(StrEnum):
    """How a run ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class OutcomeFile:
    """A file of the outcome: `data` for one that was sent, `url` for one that is only linked."""

    type: str
    url: str = ""
    filename: str = ""
    mime_type: str = ""
    data: bytes | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form; the data in base64."""
        form: dict[str, Any] = {"type": self.type, "filename": self.filename, "mime_type": self.mime_type}
        if self.url:
            form["url"] = self.url
        if self.data is not None:
            form |= {"size": len(self.data), "data": base64.b64encode(self.data).decode()}
        return form | ({"meta": self.meta} if self.meta else {})


@dataclass(slots=True)
class Outcome:
    """The result of a run, kept as far as it came.

    Attributes:
        status: How it ended.
        answer: The text of the last round.
        text: All text, with what was said on the way.
        reasoning: The model's reasoning, apart from the text.
        files: Files sent or linked.
        json: JSON objects and lists sent.
        variables: Named values; streamed ones are joined.
        usage: Tokens of all model calls.
        cost: What the model calls cost; None when nobody asked (the layer `costs` does).
        rounds: What the host saw: each model call with its tool calls.
        logs: The log tree, in order, by id and parent id; open ones were closed as errors.
        retriever_resources: What retrievals found.
        error: Why it failed; None when it did not.
        run_id: The run's id.
    """

    status: Status = Status.SUCCEEDED
    answer: str = ""
    text: str = ""
    reasoning: str = ""
    files: list[OutcomeFile] = field(default_factory=list)
    json: list[Any] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    cost: Cost | None = None
    rounds: list[RoundEntry] = field(default_factory=list)
    logs: list[LogPayload] = field(default_factory=list)
    retriever_resources: list[dict[str, Any]] = field(default_factory=list)
    error: EnfiladeError | None = None
    run_id: str = ""

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `enfilade run --json` prints it."""
        return {
            "status": self.status.value,
            "answer": self.answer,
            "text": self.text,
            "reasoning": self.reasoning,
            "files": [file.to_json() for file in self.files],
            "json": self.json,
            "variables": self.variables,
            "usage": self.usage.model_dump() | (self.cost.to_json() if self.cost is not None else {}),
            "rounds": [entry.to_json() for entry in self.rounds],
            "logs": [log.model_dump(mode="json") for log in self.logs],
            "retriever_resources": self.retriever_resources,
            "run_id": self.run_id,
            "error": None if self.error is None else {"code": self.error.code.value, "message": self.error.message},
        }

    def raise_for_error(self) -> None:
        """Raises the error of a failed run.

        Raises:
            EnfiladeError: Why it failed.
        """
        if self.error is not None:
            raise self.error

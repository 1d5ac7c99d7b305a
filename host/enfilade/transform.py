"""Folds a run's messages into its outcome."""

from collections.abc import Callable, Mapping
from typing import Any

from enfilade.blobs import BlobJoiner
from enfilade.ledger import Ledger
from enfilade.outcome import Outcome, OutcomeFile, Status
from enfilade_sdk.errors import EnfiladeError, ProtocolError
from enfilade_sdk.messages import (
    THOUGHT,
    BlobChunkPayload,
    BlobPayload,
    JsonPayload,
    LogPayload,
    LogStatus,
    MessageType,
    RetrieverResourcesPayload,
    TextPayload,
    ToolInvokeMessage,
    VariablePayload,
)
from enfilade_sdk.prompts import Usage


class Transform:
    """Takes messages one by one; `end` gives the outcome."""

    def __init__(self, ledger: Ledger, file_bytes: int, run_id: str = "") -> None:
        self._ledger = ledger
        self._outcome = Outcome(run_id=run_id)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._round: object = None
        self._round_start = 0
        self._streamed: dict[str, list[str]] = {}
        self._logs: dict[str, LogPayload] = {}
        self._usage = Usage()
        self._blobs = BlobJoiner(file_bytes)
        self._folds: Mapping[type, Callable[[ToolInvokeMessage, Any], None]] = {
            TextPayload: self._fold_text,
            BlobPayload: self._fold_blob,
            BlobChunkPayload: self._fold_part,
            JsonPayload: self._fold_json,
            VariablePayload: self._fold_variable,
            LogPayload: self._fold_log,
            RetrieverResourcesPayload: self._fold_resources,
        }

    def add(self, message: ToolInvokeMessage) -> None:
        """Folds one message in.

        Raises:
            EnfiladeError: The message breaks a rule: a blob's parts, a variable's kind.
        """
        fold = self._folds.get(type(message.message), self._fold_file)
        fold(message, message.message)

    def check_end(self) -> None:
        """Refuses a successful end that leaves something open.

        Raises:
            ProtocolError: A blob was begun and not ended.
        """
        self._blobs.check_all_ended()

    def close_logs(self, reason: str) -> list[ToolInvokeMessage]:
        """Closes the logs that are still open, as errors, and gives the messages that say so."""
        closed = []
        for log in self._logs.values():
            if log.status is LogStatus.START:
                update = {"status": LogStatus.ERROR, "error": reason}
                closed.append(ToolInvokeMessage(type=MessageType.LOG, message=log.model_copy(update=update)))
        for message in closed:
            self.add(message)
        return closed

    def end(self, status: Status, error: EnfiladeError | None = None) -> Outcome:
        """The outcome, with everything that was delivered."""
        outcome = self._outcome
        outcome.status, outcome.error = status, error
        outcome.text = "".join(self._text)
        outcome.answer = "".join(self._text[self._round_start :])
        outcome.reasoning = "".join(self._reasoning)
        outcome.variables |= {name: "".join(parts) for name, parts in self._streamed.items()}
        outcome.logs = list(self._logs.values())
        outcome.rounds = self._ledger.rounds
        outcome.usage = self._ledger.usage + self._usage
        outcome.cost = self._ledger.cost
        return outcome

    def _fold_text(self, message: ToolInvokeMessage, payload: TextPayload) -> None:
        meta = message.meta or {}
        if message.type is not MessageType.TEXT:
            name, mime = str(meta.get("filename", "")), str(meta.get("mime_type", ""))
            self._outcome.files.append(OutcomeFile(message.type.value, payload.text, name, mime, meta=meta))
        elif meta.get("reasoning"):
            self._reasoning.append(payload.text)
        else:
            if meta.get("round") != self._round:
                self._round = meta.get("round")
                self._round_start = len(self._text)
            self._text.append(payload.text)
            self._take_back(meta.get(THOUGHT))

    def _take_back(self, size: object) -> None:
        """So many characters at the start of the round's text were thought, as it turned out."""
        if isinstance(size, int) and size > 0:
            text = "".join(self._text[self._round_start :])
            self._reasoning.append(text[:size])
            self._text[self._round_start :] = [text[size:]]

    def _fold_blob(self, message: ToolInvokeMessage, payload: BlobPayload) -> None:
        self._add_file(payload.blob, message.meta or {})

    def _fold_part(self, message: ToolInvokeMessage, payload: BlobChunkPayload) -> None:
        joined = self._blobs.add(payload, message.meta or {})
        if joined is not None:
            self._add_file(joined.data, joined.meta)

    def _add_file(self, data: bytes, meta: dict[str, Any]) -> None:
        name, mime = str(meta.get("filename", "")), str(meta.get("mime_type", ""))
        self._outcome.files.append(OutcomeFile("file", "", name, mime, data, meta))

    def _fold_file(self, message: ToolInvokeMessage, _payload: object) -> None:
        file = (message.meta or {}).get("file")
        form = dict(file) if isinstance(file, Mapping) else {}
        url, name, mime = (str(form.get(key, "")) for key in ("url", "filename", "mime_type"))
        self._outcome.files.append(OutcomeFile("file", url, name, mime, meta=form))

    def _fold_json(self, _message: ToolInvokeMessage, payload: JsonPayload) -> None:
        value = payload.json_object
        used = value.get("execution_metadata") if isinstance(value, dict) else None
        if isinstance(used, Mapping):
            self._usage += _usage_of(used)
        else:
            self._outcome.json.append(value)

    def _fold_variable(self, _message: ToolInvokeMessage, payload: VariablePayload) -> None:
        name = payload.variable_name
        if not payload.stream:
            self._streamed.pop(name, None)
            self._outcome.variables[name] = payload.variable_value
            return
        if name in self._outcome.variables:
            raise ProtocolError(f"variable {name!r} was sent whole and then as a stream; choose one")
        self._streamed.setdefault(name, []).append(payload.variable_value)

    def _fold_log(self, _message: ToolInvokeMessage, payload: LogPayload) -> None:
        self._logs[payload.id] = payload

    def _fold_resources(self, _message: ToolInvokeMessage, payload: RetrieverResourcesPayload) -> None:
        self._outcome.retriever_resources.extend(payload.retriever_resources)


def _usage_of(used: Mapping[str, Any]) -> Usage:
    counts = {name: used.get(name) for name in Usage.model_fields}
    return Usage(**{name: count for name, count in counts.items() if isinstance(count, int) and count >= 0})

"""The logs of a run as compact lines for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from enfilade.cli.json_line import json_text
from enfilade.outcome import Outcome
from enfilade_sdk.messages import LogPayload, LogStatus, MessageType, ToolInvokeMessage

_ARGUMENTS = 80


class Trace:
    """Turns logs into lines, and remembers which log is which round's."""

    def __init__(self) -> None:
        self._rounds: dict[str, Any] = {}

    def line(self, log: LogPayload) -> str | None:
        """The line of a log that has ended; None for one that has none."""
        kind = log.metadata.get("kind")
        if kind == "round":
            self._rounds[log.id] = log.metadata.get("round")
            return None
        if log.status is LogStatus.START:
            return None
        if kind == "model":
            return self._model_line(log)
        if kind == "tool":
            return _tool_line(log)
        return _other_line(log)

    def _model_line(self, log: LogPayload) -> str | None:
        if log.status is LogStatus.ERROR:
            return None  # the run's own error says it
        number = self._rounds.get(log.parent_id or "")
        round_ = f"round {number}" if number is not None else log.label
        usage = log.metadata.get("usage") or {}
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        tokens = f"{counts[0]} + {counts[1]} tokens" if all(isinstance(c, int) for c in counts) else ""
        return _joined(f"{round_}: {log.metadata.get('model') or 'the model'}", _seconds(log), tokens)


def doing(log: LogPayload) -> str | None:
    """What is going on while a log is open."""
    kind = log.metadata.get("kind")
    if kind == "model":
        return f"{log.metadata.get('model') or 'the model'} is thinking ..."
    if kind == "tool":
        return f"{log.label.removeprefix('CALL ')} is at work ..."
    return None if kind == "round" else f"{log.label} ..."


def summary(outcome: Outcome, seconds: float) -> str:
    """One line for a whole run."""
    rounds = len(outcome.rounds)
    calls = sum(len(entry.calls) for entry in outcome.rounds)
    total = outcome.usage.total_tokens
    return _joined(
        f"{outcome.status.value}: {_count(rounds, 'model call')}",
        _count(calls, "tool call"),
        f"{seconds:.2f} s",
        f"{total} tokens" if total is not None else "",
    )


def attachment(message: ToolInvokeMessage) -> str | None:
    """One line for a message that is neither text nor log; None for a part of a larger one."""
    payload, meta = message.message, message.meta or {}
    if message.type is MessageType.BLOB:
        size = len(getattr(payload, "blob", b""))
        return f"file: {_file_name(meta)}, {size:,} bytes (--json has the data)"
    if message.type is MessageType.FILE:
        return f"file: {_file_name(meta.get('file'))}"
    if message.type is MessageType.BLOB_CHUNK:
        return f"file: {_file_name(meta)} (--json has the data)" if getattr(payload, "end", False) else None
    if message.type is MessageType.JSON:
        return f"json: {json_text(getattr(payload, 'json_object', None))}"
    if message.type is MessageType.VARIABLE:
        name, value = getattr(payload, "variable_name", ""), getattr(payload, "variable_value", None)
        return f"variable {name}: {json_text(value)}"
    if message.type is MessageType.RETRIEVER_RESOURCES:
        return _sources(getattr(payload, "retriever_resources", []))
    return f"{message.type.value.replace('_', ' ')}: {getattr(payload, 'text', '')}"


def _sources(resources: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(str(name) for found in resources if (name := found.get("document")))
    return f"sources: {', '.join(names) or len(resources)}"


def _tool_line(log: LogPayload) -> str:
    tool = log.data.get("tool") or log.label.removeprefix("CALL ")
    arguments = log.data.get("arguments", "")
    given = arguments if isinstance(arguments, str) else json_text(arguments)
    given = given if len(given) <= _ARGUMENTS else given[: _ARGUMENTS - 3] + "..."
    seconds = f"({_seconds(log)})" if _seconds(log) else ""
    if log.status is LogStatus.ERROR:
        return f"{_words(tool, given, 'failed', seconds)}: {log.error}"
    return f"{_words(tool, given, seconds)} = {log.data.get('output', '')}"


def _words(*words: str) -> str:
    return " ".join(word for word in words if word)


def _other_line(log: LogPayload) -> str:
    line = _joined(log.label, _seconds(log))
    return f"{line}: {log.error}" if log.error else line


def _seconds(log: LogPayload) -> str:
    seconds = log.metadata.get("seconds")
    return f"{seconds:.2f} s" if isinstance(seconds, int | float) else ""


def _file_name(meta: Any) -> str:
    form = meta if isinstance(meta, dict) else {}
    name = form.get("filename") or form.get("url") or form.get("id") or "unnamed"
    return f"{name} ({form['mime_type']})" if form.get("mime_type") else str(name)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)

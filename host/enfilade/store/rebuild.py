"""A turn's messages from its records alone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from enfilade.store.database import Record
from enfilade.store.dialogue import Answered, Exchange
from enfilade.store.state import State
from enfilade.store.text import loaded_json, loaded_text
from enfilade.store.turn import Ending, turn_of
from enfilade_sdk.prompts import PROMPTS, AssistantMessage, PromptMessage, ToolCall, ToolMessage, UserMessage


@dataclass(frozen=True, slots=True)
class RunRecords:
    """A run's row with the rows of its rounds and calls, each in order."""

    run: Record
    rounds: Sequence[Record]
    calls: Sequence[Record]

    def turn(self) -> list[PromptMessage]:
        """The turn as the next one's prompt begins with it.

        It is the last prompt that carries the question, with the reply to it and the results of its calls: what the run
        had when it ended. A run none of whose prompts carries the question gives the question, its calls, its answer.
        """
        try:
            exchange = self._dialogue()
        except ValidationError:  # a secret that is a word of the form itself ("user") was masked there
            exchange = None
        state = State(self.run["status"])
        answer, code = loaded_text(self.run["answer"] or ""), self.run["error_code"] or ""
        own_words = exchange is None or not self._ends_in_dialogue()
        return turn_of(exchange or self._question_and_calls(), Ending(state, answer, code, own_words))

    def _ends_in_dialogue(self) -> bool:
        """Whether the last thing that a model said is part of the dialogue, and whole."""
        last = self.rounds[-1]
        return last["kept"] is not None and last["status"] == State.SUCCEEDED.value

    def _dialogue(self) -> Exchange | None:
        exchange: Exchange | None = None
        for row in self.rounds:
            if row["kept"] is not None:
                left = exchange.left() if exchange is not None else []
                added = PROMPTS.validate_python(loaded_json(row["added"]))
                exchange = Exchange(left[: row["kept"]] + added, _reply(row), self._results(row["id"]))
        return exchange

    def _results(self, round_id: str) -> dict[str, Answered]:
        results: dict[str, Answered] = {}
        for row in self._calls_of(round_id):
            if (answer := _answer(row)) is not None:
                results.setdefault(loaded_text(row["call_id"]), answer)
        return results

    def _calls_of(self, round_id: str | None) -> list[Record]:
        return [row for row in self.calls if row["round_id"] == round_id]

    def _question_and_calls(self) -> Exchange:
        messages: list[PromptMessage] = [UserMessage(content=loaded_text(self.run["question"]))]
        messages += _called(self._calls_of(None))
        for row in self.rounds:
            reply = _reply(row)
            if reply is not None and reply.tool_calls:
                results = self._results(row["id"])
                answers = ((call, results.get(call.id)) for call in reply.tool_calls)
                messages += [reply, *(_told(call, answer) for call, answer in answers if answer is not None)]
            else:
                messages += _called(self._calls_of(row["id"]))
        return Exchange(messages)


def _called(rows: Sequence[Record]) -> list[PromptMessage]:
    """Calls that were made without the model's reply naming them as such, in the form of those that it names."""
    if not rows:
        return []
    calls = tuple(_call_of(row) for row in rows)
    answers = [(call, _answer(row)) for call, row in zip(calls, rows, strict=True)]
    results = [_told(call, answer) for call, answer in answers if answer is not None]
    return [AssistantMessage(tool_calls=calls), *results]


def _told(call: ToolCall, answer: Answered) -> ToolMessage:
    return ToolMessage(tool_call_id=call.id, content=answer.text, name=call.name, is_error=answer.is_error)


def _call_of(row: Record) -> ToolCall:
    arguments = _object_of(loaded_json(row["arguments"]))
    text = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id=row["id"], name=loaded_text(row["tool"]), arguments=text, parsed=arguments)


def _object_of(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
    return arguments if isinstance(arguments, dict) else {}


def _answer(row: Record) -> Answered | None:
    if row["result"] is None:
        return None
    return Answered(loaded_text(row["result"]), is_error=row["status"] == State.FAILED.value)


def _reply(row: Record) -> AssistantMessage | None:
    """The reply of a round; of a failed one, what the model had said by then."""
    text = None if row["text"] is None else loaded_text(row["text"])
    if row["status"] != State.SUCCEEDED.value and text is None:
        return None
    return AssistantMessage(content=text, tool_calls=_asked(row))


def _asked(row: Record) -> tuple[ToolCall, ...]:
    """The calls that a reply asks for; none where masking a secret has destroyed their form."""
    try:
        return tuple(map(ToolCall.model_validate, loaded_json(row["tool_calls"]) or ()))
    except ValidationError:
        return ()

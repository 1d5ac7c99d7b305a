"""The record of one model call and of the tool calls that followed it."""

from decimal import Decimal

from enfilade.store.batch import Row
from enfilade.store.dialogue import Answered, Exchange
from enfilade.store.pen import Clock, Pen, count, state_of
from enfilade.store.state import State
from enfilade_sdk.errors import EnfiladeError, RunCancelled
from enfilade_sdk.prompts import AssistantMessage, ModelResult, ToolResult, Usage

NANO = 10**9
"""Costs are kept in billionths of a dollar, whole."""


class RoundRecord:
    """One model call. End it once with `ended` or `failed`; later ends are ignored.

    Args:
        pen: Writes the rows.
        round_id: The record's id.

    Attributes:
        began_at: When, in microseconds since 1970.
        exchange: The call's part in the run's dialogue; None when it has none, or before it was written.
        asked: The ids of the tool calls that the reply asks for.
        open: Whether it has not ended yet.
    """

    def __init__(self, pen: Pen, round_id: str) -> None:
        self.id = round_id
        self.exchange: Exchange | None = None
        self.asked: frozenset[str] = frozenset()
        self.open = True
        self._pen = pen
        self._clock = Clock.start()
        self.began_at = self._clock.began_at

    def ended(self, result: ModelResult, *, cost: Decimal | None = None) -> None:
        """Writes down the reply.

        Args:
            result: The model's result.
            cost: What it cost, in dollars; None is unknown.
        """
        if not self.open:
            return
        self.open = False
        self.asked = frozenset(call.id for call in result.message.tool_calls)
        self._pen.note(self._write_ended, result, cost, result.seconds or self._clock.seconds())

    def _write_ended(self, result: ModelResult, cost: Decimal | None, seconds: float) -> None:
        message = result.message
        if self.exchange is not None:
            self.exchange.reply = message.model_copy(update={"reasoning": None})
        row = self._reply(message) | {"finish_reason": self._pen.text(result.finish_reason)}
        row |= {"status": State.SUCCEEDED.value, "seconds": seconds}
        self._pen.change("rounds", self.id, row)
        self._pen.change("usage", self.id, _usage(result.usage, cost))

    def failed(self, error: BaseException, *, text: str = "", reasoning: str = "") -> None:
        """Writes down a failure, or that the call was given up (`RunCancelled`, `CancelledError`, `GeneratorExit`).

        Args:
            error: What ended it.
            text: What the model had said by then.
            reasoning: What it had thought by then.
        """
        if not self.open:
            return
        self.open = False
        known = error if isinstance(error, EnfiladeError) else _given_up(error)
        row = self._pen.error(known) | {"status": state_of(error).value, "seconds": self._clock.seconds()}
        self._pen.note(self._write_failed, row, text, reasoning)

    def _write_failed(self, row: Row, text: str, reasoning: str) -> None:
        if self.exchange is not None and text:
            self.exchange.reply = AssistantMessage(content=text)
        message = AssistantMessage(content=text or None, reasoning=reasoning or None)
        self._pen.change("rounds", self.id, self._reply(message) | row)

    def abandoned(self, state: State) -> None:
        """Closes it with its run, when nobody said how it ended."""
        if self.open:
            self.open = False
            row = {"status": state.value, "seconds": self._clock.seconds()}
            self._pen.note(self._pen.change, "rounds", self.id, row)

    def _reply(self, message: AssistantMessage) -> Row:
        pen = self._pen
        calls = [call.model_dump(mode="json") for call in message.tool_calls]
        return {
            "text": None if message.content is None else pen.text(message.content),
            "reasoning": None if message.reasoning is None else pen.text(message.reasoning),
            "tool_calls": pen.json(calls) if calls else None,
        }


class CallRecord:
    """One tool call. End it once with `ended` or `failed`; later ends are ignored.

    Args:
        pen: Writes the rows.
        record_id: The record's id.
        call_id: The id that the model gave the call.
        asker: The model call that it belongs to; None when it belongs to none.

    Attributes:
        began_at: When, in microseconds since 1970.
        open: Whether it has not ended yet.
    """

    def __init__(self, pen: Pen, record_id: str, call_id: str, asker: RoundRecord | None) -> None:
        self.id = record_id
        self.asker = asker
        self.open = True
        self._pen = pen
        self._call_id = call_id
        self._clock = Clock.start()
        self.began_at = self._clock.began_at

    def ended(self, result: ToolResult) -> None:
        """Writes down the result, which may be a tool's failure."""
        if not self.open:
            return
        self.open = False
        self._pen.note(self._write_ended, result, result.seconds or self._clock.seconds())

    def _write_ended(self, result: ToolResult, seconds: float) -> None:
        state = State.FAILED if result.is_error else State.SUCCEEDED
        row: Row = {"status": state.value, "result": self._pen.text(result.text), "seconds": seconds}
        if "arguments" in result.details:
            row["arguments"] = self._pen.json(result.details["arguments"])
        if result.details.get("provider"):
            row["provider"] = self._pen.text(str(result.details["provider"]))
        if result.is_error and result.details.get("code"):
            row["error_code"] = self._pen.text(str(result.details["code"]))
        self._answer(Answered(result.text, result.is_error), row)

    def failed(self, error: BaseException) -> None:
        """Writes down that the call was refused, broke, or was given up; only the first two are told to the model."""
        if not self.open:
            return
        self.open = False
        known = error if isinstance(error, EnfiladeError) else _given_up(error)
        row = self._pen.error(known) | {"status": state_of(error).value, "seconds": self._clock.seconds()}
        if state_of(error) is not State.FAILED:
            self._pen.note(self._pen.change, "calls", self.id, row)
            return
        row["result"] = self._pen.text(known.message)
        self._pen.note(self._answer, Answered(known.message, is_error=True), row)

    def abandoned(self, state: State) -> None:
        """Closes it with its run, when nobody said how it ended; it has no result."""
        if self.open:
            self.open = False
            row = {"status": state.value, "seconds": self._clock.seconds()}
            self._pen.note(self._pen.change, "calls", self.id, row)

    def _answer(self, answer: Answered, row: Row) -> None:
        exchange = None if self.asker is None else self.asker.exchange
        if exchange is not None:
            exchange.results.setdefault(self._call_id, answer)
        self._pen.change("calls", self.id, row)


def _given_up(error: BaseException) -> EnfiladeError:
    if isinstance(error, Exception):
        return EnfiladeError(f"{type(error).__name__}: {error}")
    return RunCancelled("the call was given up")


def _usage(usage: Usage, cost: Decimal | None) -> Row:
    row: Row = {name: count(getattr(usage, name)) for name in Usage.model_fields}
    return row | {"cost_nano": None if cost is None else count(int((cost * NANO).to_integral_value()))}

"""A run for people: the answer on standard output, the trace on standard error."""

import time
from collections.abc import Callable
from typing import Any

from enfilade.cli.failure import failure_text
from enfilade.cli.screen import DIM, RED, Screen
from enfilade.cli.trace import Trace, attachment, doing, summary
from enfilade.outcome import Outcome, Status
from enfilade_sdk.messages import LogPayload, LogStatus, MessageType, TextPayload, ToolInvokeMessage


class TextSink:
    """Shows the text as it comes on a terminal. Elsewhere only the answer is given out, once it is known to be one.

    The text of a round may turn out to be something said on the way to a tool call. It is held until the run shows
    which it is, unless no tool can follow.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._at_once = screen.out_terminal
        self._last_round: int | None = None
        self._said = False
        self._trace = Trace()
        self._held: list[str] = []
        self._round: Any = None
        self._ended = False
        self._started = time.monotonic()

    def begin(self, so_far: Callable[[], Outcome | None], *, tools: bool, last_round: int | None) -> None:  # noqa: ARG002
        """Notes what text can only be the answer."""
        self._at_once = self._screen.out_terminal or not tools
        self._last_round = last_round

    def message(self, message: ToolInvokeMessage) -> None:
        """Shows a message."""
        payload = message.message
        if isinstance(payload, LogPayload):
            self._log(payload)
        elif isinstance(payload, TextPayload) and message.type is MessageType.TEXT:
            self._text(payload.text, message.meta or {})
        elif (line := attachment(message)) is not None:
            self._screen.note(line)

    def end(self, outcome: Outcome) -> None:
        """Gives out what was held, and says how the run ended."""
        if self._ended:
            return
        self._ended = True
        self._say("".join(self._held))
        if not self._said and outcome.status is Status.SUCCEEDED:
            self._say("\n")
        self._screen.end_line()
        if outcome.rounds or outcome.status is Status.SUCCEEDED:
            self._screen.note(summary(outcome, time.monotonic() - self._started))
        if outcome.error is not None:
            self._screen.error(failure_text(outcome.error), RED)

    def last_word(self) -> None:
        """Says nothing: the signal's sender knows."""

    def _text(self, text: str, meta: dict[str, Any]) -> None:
        if meta.get("reasoning"):
            if self._screen.err_terminal:
                self._screen.aside(text)
            return
        number = meta.get("round")
        if number != self._round:
            self._set_aside()
            self._round = number
        if self._at_once or number is None or number == self._last_round:
            self._say(text)
        else:
            self._held.append(text)

    def _say(self, text: str) -> None:
        self._said = self._said or bool(text)
        self._screen.say(text)

    def _log(self, log: LogPayload) -> None:
        if log.metadata.get("kind") == "tool" and log.status is LogStatus.START:
            self._set_aside()
        if (line := self._trace.line(log)) is not None:
            self._screen.note(line, indent="  " if log.metadata.get("kind") == "tool" else "")
        elif log.status is LogStatus.START and (what := doing(log)) is not None:
            self._screen.status(what)

    def _set_aside(self) -> None:
        """What was said so far was said on the way."""
        text, self._held = "".join(self._held).strip(), []
        if text:
            self._screen.error("  said: " + text.replace("\n", "\n  "), DIM)
        elif self._at_once:
            self._screen.gap()

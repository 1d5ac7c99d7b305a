"""A run as JSON Lines on standard output."""

from collections.abc import Callable

from pydantic_core import PydanticSerializationError, to_jsonable_python

from enfilade.cli.failure import failure_text, outcome_line
from enfilade.cli.json_line import json_line
from enfilade.cli.screen import RED, OutputError, Screen
from enfilade.outcome import Outcome, Status
from enfilade_sdk.errors import RunCancelled
from enfilade_sdk.messages import ToolInvokeMessage


class JsonSink:
    """Writes a line for each message as it comes, and one for the outcome."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._ended = False
        self._so_far: Callable[[], Outcome | None] = lambda: None

    def begin(self, so_far: Callable[[], Outcome | None], **_: object) -> None:
        """Remembers where the outcome is to be had, for the last word."""
        self._so_far = so_far

    def message(self, message: ToolInvokeMessage) -> None:
        """Writes a message's line."""
        self._screen.result(_message_line(message))

    def end(self, outcome: Outcome) -> None:
        """Writes the last line."""
        if not self._ended:
            line = outcome_line(outcome)
            self._ended = True
            if isinstance(outcome.error, OutputError):  # whoever reads the lines does not get this one
                self._screen.error(failure_text(outcome.error), RED)
            self._screen.result(line)

    def last_word(self) -> None:
        """Writes the last line of a run that could not be stopped in time."""
        if not self._ended:
            self._ended = True
            error = RunCancelled("the run was cancelled and did not stop in time; the process ended without it")
            outcome = self._so_far() or Outcome(status=Status.CANCELLED, error=error)
            self._screen.last_word(outcome_line(outcome))


def _message_line(message: ToolInvokeMessage) -> bytes:
    try:
        return json_line(message.to_json())
    except PydanticSerializationError:  # a strategy in this process put objects among its data
        form = to_jsonable_python(message, serialize_unknown=True, bytes_mode="base64", inf_nan_mode="null")
        return json_line(form)

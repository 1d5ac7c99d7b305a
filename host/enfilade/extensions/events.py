"""Tells extensions when runs begin and end."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from enfilade.layers.context import RunContext
from enfilade.layers.layer import Layer, MessageStream, NextRun
from enfilade.outcome import Outcome

BEGAN = "enfilade_run_began"
ENDED = "enfilade_run_ended"
EVENTS = (BEGAN, ENDED)
STATE = "enfilade_plugin_state"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listener:
    """One extension's function for one event.

    Attributes:
        extension: Whose it is.
        hook: The event.
        arguments: The names of the arguments it takes.
        function: What to call.
    """

    extension: str
    hook: str
    arguments: Sequence[str]
    function: Callable[..., object]

    def tell(self, **given: object) -> None:
        """Calls it; whatever it does, the run goes on."""
        try:
            self.function(*(given[name] for name in self.arguments))
        except Exception:  # noqa: BLE001 - somebody else's code must not end a run
            _log.exception("the extension %s failed in %s", self.extension, self.hook)


class RunEvents(Layer):
    """Stands around all other layers of a host whose extensions listen."""

    name = "extensions"

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._began = [listener for listener in listeners if listener.hook == BEGAN]
        self._ended = [listener for listener in listeners if listener.hook == ENDED]

    def run(self, context: RunContext, call_next: NextRun) -> MessageStream:
        """Tells that a run begins."""
        for listener in self._began:
            listener.tell(context=context)
        return call_next()

    async def ended(self, context: RunContext, outcome: Outcome) -> None:
        """Tells what it came to."""
        for listener in self._ended:
            listener.tell(context=context, outcome=outcome)

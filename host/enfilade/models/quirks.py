"""What was learned of an endpoint by speaking with it."""

from dataclasses import dataclass, field

from enfilade.models.content import REASONING_FIELDS

STREAM_OPTIONS = "stream_options"
STOP = "stop"
REASONING = "reasoning"

_REFUSALS = frozenset({400, 422})


@dataclass(slots=True)
class Quirks:
    """The ways of one model, kept for as long as the provider lives.

    Attributes:
        refused: What is not sent any more: `stream_options`, `stop`, `reasoning` (the echo).
        reasoning_field: The field its thought came in; empty when it writes it into its text; None while unknown.
    """

    refused: set[str] = field(default_factory=set)
    reasoning_field: str | None = None

    def learn(self, status: int, reason: str, sent: set[str]) -> bool:
        """Learns from a refusal that names something optional; whether asking once more, without it, makes sense.

        Args:
            status: The HTTP status.
            reason: The body of the refusal.
            sent: Which of the optional things were in the request.
        """
        if status not in _REFUSALS:
            return False
        for part in (STREAM_OPTIONS, REASONING, STOP):
            if part in sent and part not in self.refused and _names(part, reason):
                self.refused.add(part)
                return True
        return False


def _names(part: str, reason: str) -> bool:
    if part == REASONING:
        return any(field in reason for field in REASONING_FIELDS)
    if part == STOP:
        return any(f"{quote}stop{end}" in reason for quote, end in (("'", "'"), ('"', '"'), ("`", "`"), (": ", "")))
    return part in reason

"""One reply of the model, as it is read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from enfilade_cot.events import Action, Answer, Dropped, Event, ParseError, Thought, spoken
from enfilade_sdk.messages import ToolInvokeMessage, text_message

MOST_DROPPED = 4000
"""Characters of dropped text that the log shows."""


@dataclass(slots=True)
class Reply:
    """What was found in a reply.

    Attributes:
        round_number: The round it belongs to.
        direct: Whether text without labels is the answer from the start, for a run without tools.
        actions: The actions.
        error: Why an action could not be read.
        answered: Whether an answer with text was given out.
        began_answer: Whether there is a final answer, if an empty one.
        reasoned: Whether there was reasoning in a think block.
        told: How many characters were given out as text.
    """

    round_number: int
    direct: bool = False
    actions: list[Action] = field(default_factory=list)
    error: ParseError | None = None
    answered: bool = False
    began_answer: bool = False
    reasoned: bool = False
    told: int = 0
    _said: list[Event] = field(default_factory=list)
    _dropped: list[str] = field(default_factory=list)
    _shown: bool = False

    def take(self, events: Iterable[Event], *, labelled: bool) -> Iterable[ToolInvokeMessage]:
        """Notes the events down; gives what the user is shown of them.

        Args:
            events: The events.
            labelled: Whether the reply labels its thoughts.
        """
        for event in events:
            message = self._take(event, labelled=labelled)
            if message is not None:
                yield message

    def _take(self, event: Event, *, labelled: bool) -> ToolInvokeMessage | None:
        match event:
            case Thought(text=text, reasoning=reasoning):
                self._said.append(event)
                self.reasoned = self.reasoned or reasoning
                return self._thought(text, reasoning=reasoning or not self.direct or labelled)
            case Answer(text=text):
                self.began_answer = True
                return self.tell(text) if text else None
            case Action():
                self.actions.append(event)
            case ParseError():
                self.error = event
            case Dropped(text=text):
                self._dropped.append(text)
            case _:
                self._said.append(event)
        return None

    def _thought(self, text: str, *, reasoning: bool) -> ToolInvokeMessage:
        if reasoning:
            return text_message(text, meta={"round": self.round_number, "reasoning": True})
        self._shown = self._shown or bool(text.strip())
        self.told += len(text)
        return text_message(text, meta={"round": self.round_number})

    def tell(self, text: str) -> ToolInvokeMessage:
        """Gives text out as answer."""
        self.answered = self.answered or bool(text.strip())
        self.told += len(text)
        return text_message(text, meta={"round": self.round_number})

    @property
    def thought(self) -> str:
        """What was said beside actions and answer, without reasoning; trimmed."""
        return spoken(self._said)

    @property
    def shown(self) -> bool:
        """Whether the thought was already given out as answer."""
        return self._shown

    @property
    def noted(self) -> dict[str, Any]:
        """What the log has to say about it."""
        dropped = "".join(self._dropped).strip()
        notes: dict[str, Any] = {}
        if dropped:
            notes["dropped"] = dropped[:MOST_DROPPED]
        if self.error is not None:
            notes["format_error"] = self.error.reason
        return notes

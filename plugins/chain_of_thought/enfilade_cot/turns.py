"""What comes next, when a part of the parser has done its own."""

from dataclasses import dataclass
from typing import NamedTuple

from enfilade_cot.events import Json
from enfilade_cot.labels import Label
from enfilade_sdk.markup.kinds import Opener


class Fence(NamedTuple):
    """The opening line of a code block: its character, how many of them, the word behind them."""

    char: str
    length: int
    info: str


class Lead(NamedTuple):
    """What stands before an object or a code block.

    Attributes:
        first: Nothing does, save white space, think blocks and a label.
        apart: An empty line does.
        introduced: A line that ends with a colon does, as before an example.
    """

    first: bool
    apart: bool
    introduced: bool


@dataclass(slots=True)
class Draft:
    """An action whose input is still to come.

    Attributes:
        name: The tool.
        raw: The text it was read from so far.
        input: The input that was given with the name.
        has_input: Whether there was one.
        fenced: Whether the name stood in a code block, which is still to be closed.
        tentative: Whether it is no action unless an input follows.
    """

    name: str
    raw: str
    input: Json = None
    has_input: bool = False
    fenced: bool = False
    tentative: bool = False


class ToProse:
    """Thoughts, or text without labels."""


class ToThinking:
    """A `<think>` block, behind its tag."""


class ToFence(NamedTuple):
    """A code block, behind its opening line. `peek`: it may hold an action, or the whole reply."""

    fence: Fence
    opener: str
    lead: Lead
    peek: bool = True


class ToWholeFence(NamedTuple):
    """A code block at the start of the reply that begins with a label."""

    fence: Fence
    opener: str


class ToCandidate(NamedTuple):
    """An object without a label that may be an action."""

    lead: Lead
    fence: Fence | None = None
    opener: str = ""


class ToPlainObject:
    """An object that is text."""


class ToAction(NamedTuple):
    """What follows the label of an action, or a tag such as `<tool_call>` (then `label` is None)."""

    raw: str
    label: Label | None = None


class ToMarked(NamedTuple):
    """A call in the model's own markup, behind its opener; `fresh`: at the start of a line."""

    opener: Opener
    fresh: bool
    fence: ToFence | None = None


class ToElements(NamedTuple):
    """What follows the tag `<action>` or `<tool>`."""

    raw: str


class ToActionLine(NamedTuple):
    """A line that names an action; `raw` is what stood before it."""

    raw: str
    label: Label | None = None
    fenced: bool = False


class ToAwaitInput(NamedTuple):
    """The lines after the name of an action."""

    draft: Draft


class ToInput(NamedTuple):
    """What follows the label of an input."""

    draft: Draft


class ToInputText(NamedTuple):
    """An input that is text: up to the next label, or the end of its fence."""

    draft: Draft
    begun: str = ""
    fence: Fence | None = None


class ToAnswer(NamedTuple):
    """What follows the label of the final answer (`begun` is markup that stood before it), up to the tag `until`."""

    begun: str = ""
    until: str = ""


class ToNamedAnswer:
    """What follows an action named final answer."""


class ToSkip:
    """Text that counts for nothing, up to the next label."""


class ToDrop:
    """What follows an action or an error: nothing of it counts."""


Turn = (
    ToProse
    | ToThinking
    | ToFence
    | ToWholeFence
    | ToCandidate
    | ToPlainObject
    | ToAction
    | ToMarked
    | ToElements
    | ToActionLine
    | ToAwaitInput
    | ToInput
    | ToInputText
    | ToAnswer
    | ToNamedAnswer
    | ToSkip
    | ToDrop
)

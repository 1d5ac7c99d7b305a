"""What an action becomes once it is read, and what is said of one that cannot be."""

from enfilade_cot.events import Action, Answer, Dropped
from enfilade_cot.reader import Reader
from enfilade_cot.shapes import Step, answer_text
from enfilade_cot.spacing import trim

FORM = 'write {"action": "<tool name>", "action_input": {...}}, complete and as valid JSON'

CUT = f"the action was cut off, by the length limit of the reply or a filter; nothing was run; {FORM}, and shorter"

NO_TOOL = f"the action names no tool; {FORM}"

TOO_LONG = f"the action is larger than can be read; {FORM}, and shorter"


def unreadable(reader: Reader) -> str:
    """Why an object could not be read."""
    if reader.in_string:
        return f"the action ends inside a string (a closing quote is missing); {FORM}"
    return f"the action is not readable JSON; {FORM}"


def given(steps: list[Step], raw: str, tools: frozenset[str]) -> list[Action | Answer | Dropped]:
    """The events of actions. Beside another action, a final answer is a guess and is dropped."""
    actions = [Action(s.name, s.input, raw, s.name in tools, s.rest) for s in steps if not s.final]
    answers = [trim(answer_text(s.input)) for s in steps if s.final]
    if actions:
        return [*actions, *map(Dropped, answers)]
    return [*map(Answer, answers[:1]), *map(Dropped, answers[1:])]

"""The tags of think blocks and of calls."""

import re

from enfilade_cot.forms import chars, choice, maybe, named, sequence, without_names, word
from enfilade_cot.spacing import GAP

_END = sequence(chars(GAP, 0, 8), chars(">"))
_THINK = sequence(word("think"), maybe(word("ing")))
_CLOSE = sequence(word("</"), _THINK, _END)
_OPEN = sequence(word("<"), _THINK, _END)
_CALL = sequence(word("<"), choice(word("tool"), word("function")), word("_call"), chars("s", 0, 1), _END)
_ANSWER = sequence(word("<final_answer>"))
_ACTION = sequence(word("<"), choice(word("action"), word("tool")), word(">"))
_HEAD = choice(
    named("open", _OPEN),
    named("close", _CLOSE),
    named("call", _CALL),
    named("answer", _ANSWER),
    named("action", _ACTION),
)

HEAD = re.compile(_HEAD.whole, re.IGNORECASE)
"""A tag that means something at the start of a line: `open`, `close` (of a think block), `call`, `answer`, `action`."""

HEAD_START = re.compile(without_names(_HEAD.start), re.IGNORECASE)
"""A beginning of one, at the end of the text."""

CLOSE = _CLOSE.whole
"""The end of a think block."""

THINK = sequence(word("<"), chars("/", 0, 1), _THINK, _END).whole
"""The start or the end of a think block."""

_STARTS = {
    True: re.compile(_CLOSE.start, re.IGNORECASE),
    False: re.compile(choice(_CLOSE, _OPEN).start, re.IGNORECASE),
}
_LONGEST = 20

CALL_END = re.compile(rf"</(?:tool|function)_calls?{GAP}{{0,8}}>", re.IGNORECASE)
"""The end of a call's tag."""


def unfinished(text: str, at: int, *, closing: bool) -> int:
    """Where, at the end of the text, a tag of a think block begins that is not finished; the end where none does.

    Args:
        text: The text.
        at: Where to look from.
        closing: Whether only a closing tag matters.
    """
    begin = text.rfind("<", max(at, len(text) - _LONGEST))
    return begin if begin >= 0 and _STARTS[closing].match(text, begin) else len(text)

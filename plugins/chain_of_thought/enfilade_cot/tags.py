"""The tags of think blocks, of calls and of the answer."""

import re

from enfilade_cot.spacing import GAP, WHITE

_END = f"{GAP}{{0,8}}>"
_CALL = f"<(?:tool|function)_calls?{_END}"

CLOSE = f"</think(?:ing)?{_END}"
"""The end of a think block."""

THINK = f"</?think(?:ing)?{_END}"
"""The start or the end of a think block."""

HEAD = re.compile(
    f"(?P<open><think(?:ing)?{_END})|(?P<close>{CLOSE})|(?P<call>{_CALL})|(?P<answer><(?:final_)?answer>)"
    "|(?P<action><(?:action|tool)>)",
    re.IGNORECASE,
)
"""A tag that means something at the start of a line: `open`, `close` (of a think block), `call`, `answer`, `action`."""

CALL_END = re.compile(f"</(?:tool|function)_calls?{_END}", re.IGNORECASE)
"""The end of a call's tag."""

_CLOSING = ("</think", "</thinking")
_THINKING = ("<think", "<thinking", *_CLOSING)
_SPACED = (*_THINKING, *(f"<{word}_call{plural}" for word in ("tool", "function") for plural in ("", "s")))
_TIGHT = ("<final_answer", "<answer", "<action", "<tool")
_LONGEST = 24
_BEGUN = re.compile(rf"</?[a-z_]*(?P<gap>{GAP}{{0,8}})\Z", re.IGNORECASE)
_ALIKE = str.maketrans("\u0131\u0130\u017f\u212a", "iisk")
"""Letters that a pattern takes for others when case does not matter."""


def head_begins(text: str, at: int) -> bool:
    """Whether, from `at` to the end of the text, stands the beginning of a tag that `HEAD` finds."""
    return _begins(text, at, _SPACED, _TIGHT)


def unfinished(text: str, at: int, *, closing: bool) -> int:
    """Where, at the end of the text, a tag of a think block begins that is not finished; the end where none does.

    Args:
        text: The text.
        at: Where to look from.
        closing: Whether only a closing tag matters.
    """
    begin = text.rfind("<", max(at, len(text) - _LONGEST))
    return begin if begin >= 0 and _begins(text, begin, _CLOSING if closing else _THINKING) else len(text)


def _begins(text: str, at: int, spaced: tuple[str, ...], tight: tuple[str, ...] = ()) -> bool:
    """Whether it is the beginning of one of these: with blanks before its end, or without."""
    found = _BEGUN.match(text, at)
    if found is None:
        return False
    word = found.group().rstrip(WHITE).translate(_ALIKE).lower()
    if found["gap"]:
        return word in spaced
    return any(known.startswith(word) for known in (*spaced, *tight))

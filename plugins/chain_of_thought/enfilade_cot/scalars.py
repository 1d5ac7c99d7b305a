"""Words and numbers that stand without quotes."""

import math
import re

from enfilade_cot.events import Json

WORDS: dict[str, Json] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "undefined": None,
}
"""Words with a meaning in JSON, Python or JavaScript."""

_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})(?:[eE][-+]?[0-9]{1,9})?")


def scalar(text: str) -> Json:
    """The value of a bare word: a constant, a number, else the word itself.

    Numbers that JSON cannot carry (too large for a float, more than 300 digits) stay text.
    """
    if text in WORDS:
        return WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text

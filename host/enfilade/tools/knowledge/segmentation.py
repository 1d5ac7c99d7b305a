"""Words of a text, also where a script does not set them apart."""

import re
import unicodedata
from functools import cache
from itertools import islice

_UNSPACED = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U000323af"
)
"""Han, kana, hangul: characters of words that spaces do not tell apart, or not well enough."""

_MOST_TERMS = 24
_IDLE = frozenset(
    re.findall(
        r"\w+",
        "a about am an and any are as at be been but by can could did do does for from had has have how i if in into "
        "is it its me my no not of on or our please shall should so tell than that the their them then there these "
        "they this to was we were what when where which who why will with would you your",
    )
)
"""English words that questions have, whatever they ask; other languages make do with how rare a word is."""


def segmented(text: str) -> str:
    """The text as the index takes it: runs of Chinese, Japanese and Korean as overlapping pairs of characters.

    The last character of a run stands alone too, so that whatever a run holds begins one of its words: a search for a
    single character is one for words that begin with it.
    """
    return _run().sub(_pairs, unicodedata.normalize("NFKC", text))


def terms_of(query: str) -> list[str]:
    """What a query asks for, each as a string of FTS5 (`"tide"`, `"水" *`); operators and quotes in it are only text.

    At most 24 terms, in their order, none twice. Words such as `the` are left out where others remain.
    """
    found = list(islice(_term().finditer(unicodedata.normalize("NFKC", query).lower()), _MOST_TERMS * 4))
    return _terms([term for term in found if term[0] not in _IDLE] or found)


@cache
def _run() -> re.Pattern[str]:
    """Made when it is needed: that takes milliseconds, and most programs search nothing."""
    return re.compile(f"[{_UNSPACED}]+")


@cache
def _term() -> re.Pattern[str]:
    return re.compile(f"([{_UNSPACED}]+)|[^\\W{_UNSPACED}]+")


def _terms(words: list[re.Match[str]]) -> list[str]:
    terms: dict[str, None] = {}
    for word in words:
        run = word[1]
        if run is None:
            terms[f'"{word[0]}"'] = None
        elif len(run) == 1:
            terms[f'"{run}" *'] = None
        else:
            terms |= {f'"{run[at : at + 2]}"': None for at in range(min(len(run) - 1, _MOST_TERMS))}
    return list(terms)[:_MOST_TERMS]


def _pairs(run: re.Match[str]) -> str:
    text = run[0]
    return f" {' '.join(text[at : at + 2] for at in range(len(text)))} "

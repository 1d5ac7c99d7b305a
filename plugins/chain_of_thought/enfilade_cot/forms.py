"""Patterns that also know their own beginnings, for text that arrives in pieces."""

import re
from typing import NamedTuple


class Form(NamedTuple):
    """A pattern.

    Attributes:
        whole: Matches the form.
        start: Matches any beginning of the form that reaches the end of the text.
    """

    whole: str
    start: str


def chars(allowed: str, least: int = 1, most: int = 1) -> Form:
    """A run of characters out of a class (`[...]` or one escaped character)."""
    whole = allowed if least == most == 1 else f"{allowed}{{{least},{most}}}"
    return Form(whole, rf"{allowed}{{0,{most}}}\Z")


def word(text: str) -> Form:
    """Exactly these characters (in any case, where the pattern is compiled so)."""
    return sequence(*(chars(re.escape(c)) for c in text))


def sequence(*forms: Form) -> Form:
    """One form after the other."""
    start = forms[-1].start
    for form in reversed(forms[:-1]):
        start = f"(?:{form.start}|{form.whole}(?:{start}))"
    return Form("".join(form.whole for form in forms), start)


def choice(*forms: Form) -> Form:
    """One of the forms, the first that fits."""
    return Form(f"(?:{'|'.join(f.whole for f in forms)})", f"(?:{'|'.join(f.start for f in forms)})")


def maybe(form: Form) -> Form:
    """The form or nothing."""
    return Form(f"(?:{form.whole})?", rf"(?:\Z|{form.start})")


def named(name: str, form: Form) -> Form:
    """The form, as a named group."""
    return Form(f"(?P<{name}>{form.whole})", form.start)


def without_names(pattern: str) -> str:
    """The pattern with its named groups made plain, so that it may stand in another more than once."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)

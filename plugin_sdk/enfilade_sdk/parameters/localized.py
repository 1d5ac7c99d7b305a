"""Texts for people, in one language or several."""

from collections.abc import Mapping
from typing import Any

from enfilade_sdk.parameters.fault import UnfitError, brief

Localized = str | dict[str, str]
"""One text, or texts by language (`{"en_US": "Temperature", "de": "Temperatur"}`)."""

ENGLISH = "en_US"

_EXPECTED = "a text, or an object of texts by language"
_REMEDY = 'write it as "..." or as {"en_US": "..."}'


def localized(value: Any) -> Localized:
    """Reads a text or texts by language; languages without a text are dropped.

    Raises:
        UnfitError: It is neither.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise UnfitError(_EXPECTED, brief(value), _REMEDY)
    for language, text in value.items():
        if not isinstance(language, str) or not isinstance(text, str | None):
            raise UnfitError(_EXPECTED, f"{brief(text)} for {brief(language)}", _REMEDY)
    return {language: text for language, text in value.items() if text is not None}


def in_language(value: Localized | None, language: str = ENGLISH) -> str:
    """The text in a language, else in English, else the first there is; empty when there is none.

    `en-US`, `en_US` and `en` stand for each other where the exact one is missing.
    """
    if value is None or isinstance(value, str):
        return value or ""
    by_code = {code.lower().replace("-", "_"): text for code, text in reversed(value.items())}
    by_tongue = {code.partition("_")[0]: text for code, text in by_code.items()}
    for wanted in (language.lower().replace("-", "_"), ENGLISH.lower()):
        for text in (by_code.get(wanted), by_tongue.get(wanted.partition("_")[0])):
            if text is not None:
                return text
    return next(iter(value.values()), "")

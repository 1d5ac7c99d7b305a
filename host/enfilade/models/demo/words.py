"""Words of a question and of a tool, brought to one form."""

import re
from collections.abc import Mapping
from typing import Any

from enfilade_sdk.prompts import PromptTool

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a about all am an and any are as at be but by can could do does for from get give had has have how i if in "
        "is it its list made make me my no not of on or our please run say should show so some tell than that the "
        "their them then there these they this times to tool use used uses value want was we were what when where "
        "which who why will with would you your",
    )
)
_SAME: Mapping[str, str] = {
    "look": "search",
    "lookup": "search",
    "find": "search",
    "seek": "search",
    "fetch": "read",
    "open": "read",
    "load": "read",
    "temperature": "weather",
    "forecast": "weather",
    "clock": "time",
    "hour": "time",
    "o'clock": "time",
    "compute": "calculate",
    "calculator": "calculate",
    "calc": "calculate",
    "calculation": "calculate",
    "math": "calculate",
    "arithmetic": "calculate",
}


def words_of(text: str) -> set[str]:
    """The words of a text that say something, in their plain form."""
    return {_plain(word) for word in _WORD.findall(_HUMP.sub(" ", text).lower()) if word not in _STOP}


def name_words(tool: PromptTool) -> set[str]:
    """The words in a tool's name."""
    return words_of(tool.name)


def tool_words(tool: PromptTool) -> set[str]:
    """The words in a tool's description and parameters."""
    texts = [tool.description]
    properties = tool.parameters.get("properties")
    for name, schema in (properties if isinstance(properties, dict) else {}).items():
        texts += [name, _description(schema)]
    return words_of(" ".join(texts))


def _description(schema: Any) -> str:
    text = schema.get("description") if isinstance(schema, dict) else None
    return text if isinstance(text, str) else ""


def _plain(word: str) -> str:
    for ending, least in (("ing", 6), ("s", 4)):
        if len(word) >= least and word.endswith(ending) and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return _SAME.get(word, word)

"""A tool's name and its input on one line."""

import re
from dataclasses import dataclass

from enfilade_cot.events import Json
from enfilade_cot.names import clean, is_final, is_finish, is_none
from enfilade_cot.reader import read_whole
from enfilade_cot.spacing import trim

_CALL = re.compile(
    r"(?P<name>(?i:final[\s_-]answer)|[\w.-]+)\s*(?:\((?P<round>.*)\)|\[(?P<square>.*)\])[\s.;`*]*", re.DOTALL
)
_KEYWORD = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
_APART = re.compile(r"\s*(?::|=|,|->|=>|\||\bwith\b|\s[-\u2013\u2014]\s|\s)\s*", re.IGNORECASE)
_NAMING = re.compile(
    r"\s*[\"'`*]*(?:tool|function|action)?[_ ]?(?:name)?[\"'`*]*\s*[:=](?!=)(?P<rest>.+)", re.IGNORECASE | re.DOTALL
)
_USE = re.compile(r"(?:use|using|call|invoke|run)\s+(?:the\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedCall:
    """What stands on the line: a name, and an input if there is one."""

    name: str
    input: Json = None
    has_input: bool = False


def read_call(line: str, tools: frozenset[str]) -> NamedCall:
    """Reads `search`, `search("x")`, `search(query="x", limit=3)`, `search[x]`, `search: x` and `search x`.

    Args:
        line: The text after the label; of several lines only in a call with brackets.
        tools: The names on the menu.
    """
    name = clean(line, tools)
    if name in tools or (is_final(name) and not name.endswith((")", "]"))):
        return NamedCall(name)
    text = trim(line).strip("`*")
    call = _CALL.fullmatch(text)
    if call:
        named = clean(call["name"], tools)
        inner = call["round"] if call["round"] is not None else call["square"]
        if named not in tools and is_finish(named):
            named = "Final Answer"
        if call["square"] is not None or (is_final(named) and not _KEYWORD.match(inner)):
            return NamedCall(named, _bracketed(inner), has_input=bool(trim(inner)))
        return NamedCall(named, _arguments(inner), has_input=bool(trim(inner)))
    naming = _NAMING.fullmatch(text)
    if naming:
        inner_call = read_call(naming["rest"], tools)
        if inner_call.name in tools:
            return inner_call
    return _first_word(text, tools) or NamedCall(name)


def _first_word(text: str, tools: frozenset[str]) -> NamedCall | None:
    """A known name with something behind it."""
    using = _USE.match(text)
    text = text[using.end() :] if using else text
    word = text.split(None, 1)[0] if text.split() else ""
    for end in {len(word), *(i for i, c in enumerate(word) if not (c.isalnum() or c in "_-.`'\""))}:
        name = clean(word[:end], tools)
        if name not in tools or is_none(name):
            continue
        rest = text[end:]
        apart = _APART.match(rest)
        inner = trim(rest[apart.end() :] if apart else rest)
        return NamedCall(name, _bracketed(inner), has_input=bool(inner))
    return None


def _bracketed(text: str) -> Json:
    """The ReAct paper's form takes text as it stands; JSON and a quoted text are read."""
    text = trim(text)
    if text[:1] in ("{", "[", '"', "'", "“"):
        whole, value = read_whole(text)
        if whole:
            return value
    return text


def _arguments(text: str) -> Json:
    """The arguments of a call: keywords make an object, one value is itself, several are a list."""
    if not trim(text):
        return {}
    if _KEYWORD.match(text):
        whole, value = read_whole("{" + text + "}", assign=True)
        if whole:
            return value
    whole, value = read_whole("[" + text + "]")
    if whole and isinstance(value, list):
        return value[0] if len(value) == 1 else value
    return trim(text)

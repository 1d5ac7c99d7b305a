"""An input written as keys and values, without the brackets of an object."""

import re
from collections.abc import Mapping

from enfilade_cot.events import Json
from enfilade_cot.reader import read_whole
from enfilade_cot.scalars import scalar
from enfilade_cot.spacing import trim

LONGEST = 20_000
"""Characters of a text that is looked at; what is longer is one value."""

_LINE = re.compile(
    r"[^\S\n]*(?:[-*][^\S\n]+)?[\"'`*]*(?P<key>[^\W\d][\w-]*)[\"'`*]*[^\S\n]*[:=\uff1a](?!=)[^\S\n]*(?P<value>.*)"
)
_BLOCK = re.compile(r"[|>][-+]?\s*\Z")
_QUOTES = ("{", "[", '"', "'", "`")


def keyed(text: str, keys: Mapping[str, object]) -> dict[str, Json] | None:
    """Reads `query: x`, `query = "x", limit = 3` and lines of these, as in YAML.

    Args:
        text: The input.
        keys: The parameters of the tool with their schemas; only a text that begins with one of them is more than one
            value. Where a schema wants text, numbers and words stay text.

    Returns:
        The arguments, or None when the text is something else.
    """
    if len(text) > LONGEST:
        return None
    found = _LINE.match(trim(text))
    if found is None or found["key"] not in keys:
        return None
    return _on_one_line(text, keys) or _lines(trim(text).splitlines(), keys)


def _on_one_line(text: str, keys: Mapping[str, object]) -> dict[str, Json] | None:
    whole, value = read_whole("{" + text + "}", assign=True)
    if not whole or not isinstance(value, dict) or not value or not set(value) <= set(keys):
        return None
    if any(_is_text(keys[key]) and not isinstance(inner, str) for key, inner in value.items()) and len(value) == 1:
        return None
    return value


def _lines(lines: list[str], keys: Mapping[str, object]) -> dict[str, Json]:
    """Each line that begins with a key is a parameter; the others go on with the value before them."""
    given: dict[str, list[str]] = {}
    value: list[str] = []
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is not None and found["key"] in keys and found["key"] not in given:
            value = given[found["key"]] = [found["value"]]
        else:
            value.append(line)
    return {key: _value(pieces, wants_text=_is_text(keys[key])) for key, pieces in given.items()}


def _is_text(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "string"


def _value(pieces: list[str], *, wants_text: bool = False) -> Json:
    first, *more = pieces
    if more and (not trim(first) or _BLOCK.fullmatch(first)):
        return _unindented(more)
    text = trim("\n".join(pieces)).removesuffix(",")
    if text.startswith(_QUOTES):
        whole, value = read_whole(text)
        if whole:
            return value
    return text if wants_text else scalar(text)


def _unindented(lines: list[str]) -> Json:
    """A block of text, or a list of items."""
    least = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    plain = [line[least:] for line in lines]
    if all(line.startswith("- ") for line in plain):
        return [_value([line[2:]]) for line in plain]
    text = "\n".join(plain).strip("\n")
    if text.startswith(_QUOTES):
        whole, value = read_whole(text)
        if whole:
            return value
    return text

"""What can be told of a call whose block cannot be read."""

import json
import re
from collections.abc import Container
from typing import Final, NamedTuple

from enfilade_sdk.markup.prefixes import without_prefix
from enfilade_sdk.markup.strict import parse_object, value_end

FIRST_NAME: Final = re.compile(
    r"\s*(?:\[\s*)?\{\s*([\"'])(?:name|tool|tool_name|function)\1\s*:\s*([\"'])((?:(?!\2)[^\\])*)(\2?)"
)
"""The name at the start of a call as an object: group 3, whole where group 4 is not empty."""

_ARGUMENTS = re.compile(r"([\"'])(?:arguments|parameters|args|input)\1\s*:\s*(?=[{\[])")
_STRANGE_KEYS = ({"name", "arguments"}, {"name", "parameters"})
_STRANGE_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}\Z")
_PLAIN_NAME = re.compile(r"\s*(?:<function=)?([\w.-]+)>?\s*(?:\[ARGS\])?\s*(?=\{)")


class BrokenCall(NamedTuple):
    """A call of a tool on the menu: its name, and the text of its arguments as far as there is one."""

    name: str
    arguments: str


def broken_call(body: str, menu: Container[str], *, cut: bool) -> BrokenCall | None:
    """The call that a block means which cannot be read; None when it does not even name a tool on the menu.

    Args:
        body: The block without its markers.
        menu: The tools that may be called.
        cut: Whether the reply ended before its time; then a name is enough.
    """
    named, plain = FIRST_NAME.match(body), _PLAIN_NAME.match(body)
    if named is not None and named[4]:
        name, found = without_prefix(named[3]), _ARGUMENTS.search(body, named.end())
        start = found.end() if found else -1
    elif plain is not None:
        name, start = without_prefix(plain[1]), plain.end()
    else:
        return None
    if name not in menu or (start < 0 and not cut):
        return None
    rest = body[max(start, 0) :]
    end = value_end(rest)
    is_whole = start >= 0 and end > 0 and not rest[end:].strip(" \t\r\n}]")
    return BrokenCall(name, rest[:end] if is_whole else rest.rstrip())


def stranger(body: str) -> BrokenCall | None:
    """The call in a body that is one JSON object with a name, arguments and nothing else, whatever tool it names."""
    value = parse_object(body)
    if value is None or value.keys() not in _STRANGE_KEYS:
        return None
    name, arguments = value["name"], value.get("arguments", value.get("parameters"))
    if not isinstance(name, str) or not _STRANGE_NAME.match(name) or not isinstance(arguments, dict):
        return None
    return BrokenCall(name, json.dumps(arguments, ensure_ascii=False))

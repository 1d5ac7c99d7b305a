"""Arguments written as elements: `<parameter=city>Oban</parameter>`, `<city>Oban</city>`, keys and values."""

import json
import re
from collections.abc import Mapping
from typing import Any

from enfilade_sdk.markup.kinds import NAMESPACES

PARAMETER = re.compile(r"<parameter=([^>\s]+)>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
NAMED_PARAMETER = re.compile(r'<parameter\s+name="([^"]+)"[^>]*>(.*?)(?:</parameter>|\Z)', re.DOTALL)
KEYED = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*)>(.*?)</\1>", re.DOTALL)

_SPACES = "|".join(map(re.escape, NAMESPACES))
_NAMESPACED = re.compile(rf"(</?)(?:{_SPACES})(function_calls|invoke|parameter|parameters)\b")
_NAME = re.compile(r"\s*<(name|tool_name|tool|function)>\s*([\w.-]+)\s*</\1>", re.DOTALL)
_REST = re.compile(
    r"\s*(?:<(?P<tag>arguments|parameters|params|args|input|tool_input|function_arguments)>(?P<inner>.*)</(?P=tag)>)?\s*",
    re.DOTALL,
)


def without_namespaces(text: str) -> str:
    """The text with the tags of calls in their plain names."""
    return _NAMESPACED.sub(r"\1\2", text)


def typed(pattern: re.Pattern[str], body: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a pattern finds: text where the schema takes text, else JSON where it is JSON.

    Raises:
        ValueError: There is more than arguments.
    """
    if pattern.sub("", body).strip():
        raise ValueError("text between the arguments")
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    return {found[1].strip(): _value(found[2], known.get(found[1].strip())) for found in pattern.finditer(body)}


def named_elements(body: str, menu: Mapping[str, Mapping[str, Any]]) -> tuple[str, dict[str, Any] | str]:
    """A call whose name is an element of its own: `<name>tide</name><input>{...}</input>`.

    Raises:
        ValueError: It is something else.
    """
    named = _NAME.match(body)
    rest = _REST.fullmatch(body, named.end()) if named else None
    if named is None or rest is None:
        raise ValueError("no name")
    inner = (rest["inner"] or "").strip()
    if not inner or inner.startswith("{"):
        return named[2], inner
    return named[2], typed(ELEMENT, inner, menu.get(named[2], {}))


def _value(text: str, schema: Any) -> Any:
    plain = text.removeprefix("\n").removesuffix("\n")
    if isinstance(schema, dict) and schema.get("type") == "string":
        return plain
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        return plain

"""Reads tool calls out of a block of markup, once the block is whole."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from enfilade.models.arguments import parse_object

Menu = Mapping[str, Mapping[str, Any]]
"""The tools that may be called: name to the JSON Schema of the arguments (empty when it is not known)."""

NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_OUTER_KEYS = ("function", "function_call", "tool_call", "tool_calls")
CALL_KEYS = frozenset({*NAME_KEYS, *_ARGUMENT_KEYS, *_OUTER_KEYS, "type", "id"})

_BETWEEN = re.compile(r"(?:[\s,;]|</?(?:tool_call|tool_calls|function_call)>|<\|[a-z_]{1,20}\|>|</?s>)*", re.IGNORECASE)
_FENCED = re.compile(r"\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_INVOKE = re.compile(r'<invoke\s+name="([^"]+)"\s*>(.*?)(?:</invoke>|\Z)', re.DOTALL)
_INVOKE_PARAMETER = re.compile(r'<parameter\s+name="([^"]+)"[^>]*>(.*?)(?:</parameter>|\Z)', re.DOTALL)
_KEYED = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[ARGS\])?\s*(.*)", re.DOTALL)


def token(words: str) -> str:
    """A special token as DeepSeek writes them: full-width bars around words joined by low blocks."""
    return "<\uff5c" + words.replace(" ", "\u2581") + "\uff5c>"


_SECTION = re.compile(
    rf"(?:function(?=<))?(?:{token('tool sep')})?\s*([\w.-]+?)(?::\d+)?\s*"
    rf"(?:{token('tool sep')}|<\|tool_call_argument_begin\|>|\n)\s*(.*)",
    re.DOTALL,
)
_SECTION_BOUNDS = re.compile(
    "<[\uff5c|]tool[\u2581_]calls?(?:[\u2581_]section)?[\u2581_](?:begin|end)[\uff5c|]>",
)


class MarkedCall(NamedTuple):
    """A call found in text: the name of a tool on the menu, and its arguments."""

    name: str
    arguments: dict[str, Any]


def marked_calls(kind: str, body: str, menu: Menu) -> list[MarkedCall] | None:
    """The calls a block holds; None unless it holds nothing but calls of tools on the menu with valid arguments.

    Args:
        kind: The block's kind, see `enfilade.models.block`.
        body: What stands between its markers.
        menu: The tools that may be called.
    """
    try:
        found = [_checked(name, arguments, menu) for name, arguments in _read(kind, body, menu)]
    except (ValueError, RecursionError):
        return None
    return found or None


def _checked(name: Any, arguments: Any, menu: Menu) -> MarkedCall:
    plain = name.removeprefix("functions.") if isinstance(name, str) else ""
    if plain not in menu:
        raise ValueError(f"{name!r} is no tool on the menu")
    if isinstance(arguments, str):
        arguments = parse_object(arguments) if arguments.strip() else {}
    if arguments is None or not isinstance(arguments, dict):
        raise ValueError("the arguments are no object")
    return MarkedCall(plain, arguments)


def _read(kind: str, body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    if kind == "function":
        return _all(_FUNCTION, body, lambda name, inner: _function_arguments(inner, menu.get(name, {})))
    if kind == "invoke":
        return _all(_INVOKE, body, lambda name, inner: _typed(_INVOKE_PARAMETER, inner, menu.get(name, {})))
    if kind == "sections":
        return _sections(body)
    if kind in ("fenced", "bare"):
        return _json_calls(body, strict=True)
    return _tagged(body, menu)


def _tagged(body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    fenced = _FENCED.fullmatch(body)
    inner = (fenced[1] if fenced else body).strip()
    if inner.startswith(("{", "[")):
        return _json_calls(inner, strict=False)
    if inner.startswith("<function="):
        return _read("function", inner, menu)
    if inner.startswith("<invoke"):
        return _read("invoke", inner, menu)
    return _named(inner, menu)


def _named(body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    """A name followed by its arguments as JSON or as pairs of keys and values."""
    found = _NAMED.fullmatch(body)
    if found is None:
        raise ValueError("no name")
    name, rest = found[1], found[2].strip()
    if not rest or rest.startswith("<arg_key>"):
        yield name, _typed(_KEYED, rest, menu.get(name, {}))
    else:
        yield name, _only_object(rest)


def _only_object(text: str) -> dict[str, Any]:
    value, end = json.JSONDecoder(strict=False).raw_decode(text)
    if not isinstance(value, dict) or _after(text, end) != len(text):
        raise ValueError("the arguments are no object")
    return value


def _sections(body: str) -> Iterator[tuple[Any, Any]]:
    for part in _SECTION_BOUNDS.split(body):
        if not part.strip():
            continue
        found = _SECTION.fullmatch(part.strip())
        if found is None:
            raise ValueError("a section without a name")
        fenced = _FENCED.fullmatch(found[2])
        yield found[1], _only_object((fenced[1] if fenced else found[2]).strip())


def _all(pattern: re.Pattern[str], body: str, arguments: Any) -> Iterator[tuple[Any, Any]]:
    """What a pattern finds, when nothing but white space is left over."""
    if pattern.sub("", body).strip():
        raise ValueError("text between the calls")
    for found in pattern.finditer(body):
        yield found[1], arguments(found[1], found[2])


def _function_arguments(inner: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    body = inner.strip()
    return _only_object(body) if body.startswith("{") else _typed(_PARAMETER, body, schema)


def _typed(pattern: re.Pattern[str], body: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments written as elements: text where the schema takes text, else JSON where it is JSON."""
    if pattern.sub("", body).strip():
        raise ValueError("text between the arguments")
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    return {found[1].strip(): _value(found[2], known.get(found[1].strip())) for found in pattern.finditer(body)}


def _value(text: str, schema: Any) -> Any:
    plain = text.removeprefix("\n").removesuffix("\n")
    if isinstance(schema, dict) and schema.get("type") == "string":
        return plain
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        return plain


def _json_calls(text: str, *, strict: bool) -> Iterator[tuple[Any, Any]]:
    """The calls in one or several JSON values; with `strict` each has a name, arguments and no foreign key."""
    decoder, at = json.JSONDecoder(strict=False), _after(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        at = _after(text, at)
        for item in value if isinstance(value, list) else [value]:
            yield from _json_call(item, strict=strict)


def _json_call(item: Any, *, strict: bool) -> Iterator[tuple[Any, Any]]:
    if not isinstance(item, dict):
        yield None, None
        return
    for key in _OUTER_KEYS:
        inner = item.get(key)
        if isinstance(inner, dict | list):
            for each in inner if isinstance(inner, list) else [inner]:
                yield from _json_call(each, strict=strict)
            return
    name = next((item[key] for key in NAME_KEYS if isinstance(item.get(key), str)), None)
    arguments = next((item[key] for key in _ARGUMENT_KEYS if key in item), None)
    if strict and (arguments is None or not CALL_KEYS.issuperset(item)):
        raise ValueError("an object that only looks like a call")
    yield name, {} if arguments is None else arguments


def _after(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return at if found is None else found.end()

"""Reads tool calls out of a block of markup, once the block is whole."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from enfilade_sdk.markup.elements import (
    KEYED,
    NAMED_PARAMETER,
    PARAMETER,
    named_elements,
    typed,
    without_namespaces,
)
from enfilade_sdk.markup.kinds import token
from enfilade_sdk.markup.prefixes import without_prefix
from enfilade_sdk.markup.pythonic import python_calls, python_value
from enfilade_sdk.markup.strict import parse_object

Menu = Mapping[str, Mapping[str, Any]]
"""The tools that may be called: name to the JSON Schema of the arguments (empty when it is not known)."""

NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_OUTER_KEYS = ("function", "function_call", "tool_call", "tool_calls")
CALL_KEYS = frozenset({*NAME_KEYS, *_ARGUMENT_KEYS, *_OUTER_KEYS, "type", "id", "tool_call_id"})

_BETWEEN = re.compile(r"(?:[\s,;]|</?(?:tool_call|tool_calls|function_call)>|<\|[a-z_]{1,20}\|>|</?s>)*", re.IGNORECASE)
_FENCED = re.compile(r"\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s{]+)>?(.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL)
_INVOKE = re.compile(r'<invoke\s+name="([^"]+)"\s*>(.*?)(?:</invoke>|\Z)', re.DOTALL)
_OLD_INVOKE = re.compile(r"<invoke>(.*?)</invoke>", re.DOTALL)
_MISTRAL = "[TOOL_CALLS]"
_PYTHON = re.compile(r"[\w.]+\(")
_MISTRAL_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*[\w-]*\s*)?(?:\[ARGS\])?\s*(?=\{)")
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[ARGS\])?\s*(.*)", re.DOTALL)


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
        kind: The block's kind, see `enfilade_sdk.markup.kinds`.
        body: What stands between its markers.
        menu: The tools that may be called.
    """
    try:
        found = [_checked(name, arguments, menu) for name, arguments in _read(kind, body, menu)]
    except (ValueError, RecursionError):
        return None
    return found or None


def _checked(name: Any, arguments: Any, menu: Menu) -> MarkedCall:
    plain = without_prefix(name) if isinstance(name, str) else ""
    if plain not in menu:
        raise ValueError(f"{name!r} is no tool on the menu")
    if isinstance(arguments, str):
        arguments = parse_object(arguments) if arguments.strip() else {}
    if arguments is None or not isinstance(arguments, dict):
        raise ValueError("the arguments are no object")
    return MarkedCall(plain, arguments)


def _read(kind: str, body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    match kind:
        case "function":
            return _all(_FUNCTION, body, lambda name, inner: _function_arguments(inner, menu.get(name, {})))
        case "invoke":
            return _invoked(without_namespaces(body), menu)
        case "sections":
            return _sections(body)
        case "mistral":
            return _mistral(body, menu)
        case "fenced" | "bare":
            start = body[_after(body, 0) :]
            is_json = start.startswith("{") or (start.startswith("[") and start[1:].lstrip()[:1] in ("{", "[", "]"))
            return _json_calls(body, strict=True) if is_json else _other_block(body, menu)
        case _:
            return _tagged(body, menu)


def _other_block(body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    return _tagged(body, menu) if body.lstrip().startswith("<") else python_calls(body, menu, printed=True)


def _invoked(body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    if _OLD_INVOKE.search(body):
        if _OLD_INVOKE.sub("", body).strip():
            raise ValueError("text between the calls")
        for found in _OLD_INVOKE.finditer(body):
            yield named_elements(found[1], menu)
        return
    yield from _all(_INVOKE, body, lambda name, inner: typed(NAMED_PARAMETER, inner, menu.get(name, {})))


def _mistral(body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    """A list of calls as JSON, or names and arguments in turn, each perhaps behind the marker once more."""
    for part in body.split(_MISTRAL):
        named = _MISTRAL_NAMED.match(part)
        if named is None:
            yield from _tagged(part, menu)
        else:
            yield named[1], _only_object(part[named.end() :])


def _tagged(body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    fenced = _FENCED.fullmatch(body)
    inner = (fenced[1] if fenced else body).strip()
    if inner.startswith(("{", "[")):
        return _json_calls(inner, strict=False)
    if inner.startswith("<function="):
        return _read("function", inner, menu)
    if inner.startswith("<invoke"):
        return _read("invoke", inner, menu)
    if inner.startswith("<"):
        return iter([named_elements(inner, menu)])
    if _PYTHON.match(inner):
        return python_calls(inner, menu)
    return _named(inner, menu)


def _named(body: str, menu: Menu) -> Iterator[tuple[Any, Any]]:
    """A name followed by its arguments as JSON or as pairs of keys and values."""
    found = _NAMED.fullmatch(body)
    if found is None:
        raise ValueError("no name")
    name, rest = found[1], found[2].strip()
    if not rest or rest.startswith("<arg_key>"):
        yield name, typed(KEYED, rest, menu.get(name, {}))
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
    return _only_object(body) if body.startswith("{") else typed(PARAMETER, body, schema)


def _json_calls(text: str, *, strict: bool) -> Iterator[tuple[Any, Any]]:
    """The calls in one or several JSON values; with `strict` each has a name, arguments and no foreign key."""
    for value in _json_values(text) if strict else _values(text):
        for item in value if isinstance(value, list) else [value]:
            yield from _json_call(item, strict=strict)


def _values(text: str) -> list[Any]:
    """The JSON values of a text; one of Python, which takes other quotes and a last comma too, will do."""
    try:
        return list(_json_values(text))
    except ValueError:
        return [python_value(text)]


def _json_values(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(strict=False), _after(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        at = _after(text, at)
        yield value


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

"""Headers that repeat arguments of a call, so that what stands before a server can route it (since 2026-07-28).

A schema marks such a parameter with `x-mcp-header: NAME`; its value goes into the header `Mcp-Param-NAME`.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Any

from enfilade.tools.json_value import clean_text
from enfilade.tools.mcp.message import JsonObject

_MARK = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_PLAIN = re.compile(r"[\x20-\x7e]*\Z")
_DEEPEST = 20


class ParameterHeaders:
    """Knows which parameters of which tools go into headers."""

    def __init__(self) -> None:
        self._marked: dict[str, dict[tuple[str, ...], str]] = {}

    def learn(self, tools: Iterable[JsonObject]) -> None:
        """Takes note of the tools that there are now."""
        marked = {tool["name"]: dict(_marked(tool.get("inputSchema"), ())) for tool in tools}
        self._marked = {name: places for name, places in marked.items() if places}

    def of(self, tool: str, arguments: JsonObject) -> dict[str, str]:
        """The headers of a call."""
        headers = {}
        for path, name in self._marked.get(tool, {}).items():
            value = _at(arguments, path)
            if isinstance(value, bool):
                headers[f"Mcp-Param-{name}"] = "true" if value else "false"
            elif isinstance(value, str | int | float):
                headers[f"Mcp-Param-{name}"] = header_value(str(value))
        return headers


def header_value(text: str) -> str:
    """The text as a header can carry it: as it is, or marked and in base64."""
    if _PLAIN.match(text) and text == text.strip() and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(clean_text(text).encode()).decode()}?="


def _marked(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(path) > _DEEPEST:
        return
    for key, part in properties.items():
        name = part.get(_MARK) if isinstance(part, dict) else None
        if isinstance(name, str) and _TOKEN.match(name):
            yield (*path, key), name
        yield from _marked(part, (*path, key))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value

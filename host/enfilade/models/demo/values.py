"""Values for a tool's parameters, taken from a question."""

import re
from collections.abc import Mapping
from typing import Any

from enfilade.models.demo.places import place_in, zone_in
from enfilade.models.demo.sums import expression_in
from enfilade.models.demo.words import words_of
from enfilade_sdk.prompts import PromptTool

_QUOTED = re.compile(r"\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|(?<!\w)'([^']+)'(?!\w)|`([^`]+)`")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")
_FILE = re.compile(r"(?<![\w/.])(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b(?!/)")
_URL = re.compile(r"https?://[^\s\"'<>]+[^\s\"'<>.,;:!?)]")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_ABOUT = re.compile(r"\b(?:about|for|on|named|called)\s+(.+?)[?.!]*\s*$", re.IGNORECASE | re.DOTALL)
_ASKING = re.compile(r"^(?:please\s+)?(?:look up|search(?: for)?|find(?: out)?|tell me|show me)\s+", re.IGNORECASE)

_KINDS: Mapping[str, frozenset[str]] = {
    "sum": frozenset({"expression", "formula", "equation", "sum", "calculation", "calculate"}),
    "zone": frozenset({"timezone", "zone", "tz"}),
    "file": frozenset({"path", "file", "filename", "filepath", "document"}),
    "url": frozenset({"url", "link", "uri", "website", "page"}),
    "mail": frozenset({"email", "mail", "recipient"}),
    "date": frozenset({"date", "day"}),
    "place": frozenset(
        {"city", "place", "location", "town", "country", "port", "where", "region", "site", "address", "name", "person"}
    ),
    "query": frozenset({"query", "question", "q", "text", "topic", "term", "keyword", "input", "prompt", "search"}),
}


def file_in(text: str) -> str | None:
    """The file that a question names."""
    found = _FILE.search(_MAIL.sub(" ", _URL.sub(" ", text)))
    return found[0] if found else None


def without_names(text: str) -> str:
    """A text without the names of files, pages and people in it, whose parts are not words."""
    return _FILE.sub(" ", _MAIL.sub(" ", _URL.sub(" ", text)))


class Values:
    """Finds values in one question; a quoted text and a number are each given out once.

    Args:
        question: The question.
    """

    def __init__(self, question: str) -> None:
        self._question = question
        self._quoted: list[str] = [next(filter(None, groups)) for groups in _QUOTED.findall(question)]
        self._numbers = _NUMBER.findall(_DATE.sub(" ", question))

    def arguments(self, tool: PromptTool) -> dict[str, Any] | None:
        """Arguments for a tool; None when a required one cannot be found."""
        properties = tool.parameters.get("properties")
        schemas = {
            name: _plain(schema) for name, schema in (properties if isinstance(properties, dict) else {}).items()
        }
        required = [name for name in tool.parameters.get("required") or () if name in schemas]
        values: dict[str, Any] = {}
        for name in required:
            value = self._value(name, schemas[name], only=len(required) == 1)
            if value is None:
                return None
            values[name] = value
        for name in (name for name in schemas if name not in values):
            value = self._optional(name, schemas[name])
            if value is not None:
                values[name] = value
        return values

    def _optional(self, name: str, schema: Mapping[str, Any]) -> Any:
        """A value for what need not be given: only where the question clearly has it."""
        named = self._named(name, schema)
        if named is not None:
            return named
        kind = _kind(name)
        if schema.get("type") == "string" and kind in ("sum", "zone", "file", "url", "mail", "date"):
            return self._of_kind(kind)
        return self._choice(schema)

    def _value(self, name: str, schema: Mapping[str, Any], *, only: bool) -> Any:
        type_ = schema.get("type")
        named = self._named(name, schema)
        if named is not None:
            return named
        if schema.get("enum"):
            return self._choice(schema) or schema.get("default") or schema["enum"][0]
        if type_ in ("integer", "number"):
            return self._number(schema)
        if type_ == "boolean":
            return not re.search(r"\b(?:no|not|without|off|false)\b", self._question, re.IGNORECASE)
        if type_ == "array":
            return self._list(schema)
        if type_ == "object":
            return {}
        return self._text(name, only=only)

    def _named(self, name: str, schema: Mapping[str, Any]) -> Any:
        """The value behind the parameter's own name, as in `limit 3`, `limit=3` or `city: Oban`."""
        word = re.escape(name).replace("_", "[ _]")
        if schema.get("type") in ("integer", "number"):
            found = re.search(rf"\b{word}\s*(?:=|:|of|is)?\s*(-?\d+(?:\.\d+)?)", self._question, re.IGNORECASE)
            return _as_number(found[1], schema) if found else None
        found = re.search(rf"\b{word}\s*[=:]\s*(\"[^\"]*\"|'[^']*'|\S+)", self._question, re.IGNORECASE)
        return found[1].strip("\"'") if found else None

    def _choice(self, schema: Mapping[str, Any]) -> Any:
        low = self._question.lower()
        choices = schema.get("enum") or ()
        return next((each for each in choices if re.search(rf"\b{re.escape(str(each).lower())}\b", low)), None)

    def _number(self, schema: Mapping[str, Any]) -> int | float | None:
        default = schema.get("default")
        if not self._numbers:
            return default if isinstance(default, int | float) else None
        return _as_number(self._numbers.pop(0), schema)

    def _list(self, schema: Mapping[str, Any]) -> list[Any] | None:
        items = schema.get("items")
        if isinstance(items, dict) and items.get("type") in ("integer", "number"):
            numbers, self._numbers = self._numbers, []
            return [_as_number(number, items) for number in numbers] or None
        quoted, self._quoted = self._quoted, []
        return quoted or None

    def _text(self, name: str, *, only: bool) -> str | None:
        kind = _kind(name)
        found = self._of_kind(kind)
        if found is not None or kind in ("sum", "file", "url", "mail"):
            return found
        if self._quoted:
            return self._quoted.pop(0)
        if kind == "query":
            return self._subject()
        return place_in(self._question) or (self._subject() if only else None)

    def _of_kind(self, kind: str) -> str | None:
        if kind == "sum":
            return expression_in(self._question)
        if kind == "zone":
            return zone_in(self._question)
        if kind == "file":
            return file_in(self._question) or (self._quoted.pop(0) if self._quoted else None)
        patterns: Mapping[str, re.Pattern[str]] = {"url": _URL, "mail": _MAIL, "date": _DATE}
        found = patterns[kind].search(self._question) if kind in patterns else None
        return found[0] if found else None

    def _subject(self) -> str:
        """What the question is about: what follows `about` and the like, else all of it."""
        found = _ABOUT.search(self._question)
        return (found[1] if found else _ASKING.sub("", self._question)).strip(" ?.!")


def _kind(name: str) -> str:
    words = words_of(name) | {name.lower()}
    return next((kind for kind, names in _KINDS.items() if words & names), "")


def _plain(schema: Any) -> Mapping[str, Any]:
    """A parameter's schema with its type as one word: of several, the first that is not null."""
    if not isinstance(schema, dict):
        return {}
    for choices in (schema.get("anyOf"), schema.get("oneOf")):
        if isinstance(choices, list):
            return next((_plain(choice) for choice in choices if _plain(choice).get("type") != "null"), {})
    type_ = schema.get("type")
    if isinstance(type_, list):
        type_ = next((each for each in type_ if each != "null"), None)
    return {**schema, "type": type_}


def _as_number(text: str, schema: Mapping[str, Any]) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() and (schema.get("type") == "integer" or "." not in text) else number

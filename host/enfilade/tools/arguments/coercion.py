"""Values that are plainly meant but wrongly written: `"5"` for an integer, JSON text for a list."""

import ast
import re
import warnings
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from enfilade.tools.json_value import MAX_DEPTH, NotJsonError, compact_json, json_copy, read_json
from enfilade.tools.schemas.keywords import Schema

_INTEGER = re.compile(r"[+-]?\d{1,400}\Z", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?\Z", re.ASCII)
_SEVERAL = re.compile(r"[,;\n]")
_MOST_TEXT = 1_000_000
_MOST_PYTHON_TEXT = 20_000


class Coercion:
    """Brings values nearer to a schema, where what was meant is plain.

    A value that fits is never touched, so a text stays a text where a text is allowed. What is not plain is
    left as it is, for the check to refuse.

    Args:
        root: The schema that holds the definitions references point to.
    """

    def __init__(self, root: Schema) -> None:
        self._definitions: Schema = root.get("$defs", {})
        self._validators: dict[int, tuple[Any, Draft202012Validator | None]] = {}

    def fits(self, schema: Any, value: Any) -> bool:
        """Whether the value fits a part of the root schema."""
        known = self._validators.get(id(schema))
        if known is None:  # the schema is kept too, so that its id stays its own
            known = self._validators[id(schema)] = (schema, self._compiled(schema))
        return known[1] is not None and known[1].is_valid(value)

    def _compiled(self, schema: Any) -> Draft202012Validator | None:
        whole = {**schema, "$defs": self._definitions} if isinstance(schema, dict) and self._definitions else schema
        try:
            return Draft202012Validator(whole, offline=True)
        except ValidationError:
            return None

    def nearer(self, schema: Any, value: Any, depth: int = 0) -> Any:
        """The value, with what is plain in it put right; parts that were right are kept."""
        schema = self._followed(schema)
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self.fits(schema, value):
            return value
        value = self._listed(schema, value)
        value = self._scalar(schema, value)
        for branch in schema.get("allOf", []):
            value = self.nearer(branch, value, depth + 1)
        if isinstance(value, dict):
            value = self._object(schema, value, depth)
        elif isinstance(value, list):
            value = self._list(schema, value, depth)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                value = self._branch(schema[keyword], value, depth)
        return value

    def _followed(self, schema: Any) -> Any:
        for _ in range(len(self._definitions) + 1):
            if not (isinstance(schema, dict) and "$ref" in schema):
                break
            schema = self._definitions.get(schema["$ref"].rpartition("/")[2])
        return schema

    def _branch(self, branches: list[Any], value: Any, depth: int) -> Any:
        for branch in branches:
            nearer = self.nearer(branch, value, depth + 1)
            if self.fits(branch, nearer):
                return nearer
        return value

    def _listed(self, schema: Schema, value: Any) -> Any:
        """The one value of an enumeration that the text means."""
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if not isinstance(values, list) or not isinstance(value, str | int | float) or isinstance(value, bool):
            return value
        word = _word(value)
        meant = [known for known in values if _word(known) == word]
        return meant[0] if len(meant) == 1 else value

    def _scalar(self, schema: Schema, value: Any) -> Any:
        kind = schema.get("type")
        if not isinstance(kind, str) or "enum" in schema or "const" in schema:
            return value
        if isinstance(value, str) and kind != "string":
            return self._from_text(kind, schema, value)
        if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
            return compact_json(value)
        if kind == "array" and value is not None and not isinstance(value, list):
            return self._alone(schema, value)
        return value

    def _from_text(self, kind: str, schema: Schema, text: str) -> Any:
        word = text.strip()
        if kind in {"integer", "number"}:
            return _number(kind, word, text)
        if kind == "boolean":
            return {"true": True, "false": False}.get(word.lower(), text)
        if kind == "null":
            return None if word.lower() in {"null", "none"} else text
        read = _container(word, list if kind == "array" else dict)
        if read is None:
            return self._alone(schema, text) if kind == "array" else text
        return read

    def _alone(self, schema: Schema, value: Any) -> Any:
        """A single value where a list is wanted; a text that may well be several is not guessed at."""
        if isinstance(value, str) and (_SEVERAL.search(value) or value.strip()[:1] in {"[", "{", ""}):
            return value
        item = schema.get("items", {})
        nearer = self.nearer(item, value)
        return [nearer] if self.fits(item, nearer) and "prefixItems" not in schema else value

    def _object(self, schema: Schema, value: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        others = schema.get("additionalProperties")
        nearer: dict[str, Any] = {}
        for name, part in value.items():
            expected = properties.get(name, others)
            if part is None and name in properties and name not in required and not self.fits(expected, None):
                continue  # null for "not given"
            nearer[name] = self.nearer(expected, part, depth + 1)
        return nearer

    def _list(self, schema: Schema, value: list[Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        parts = [*first, *[schema.get("items")] * max(0, len(value) - len(first))]
        nearer = [self.nearer(part, item, depth + 1) for part, item in zip(parts, value, strict=False)]
        if schema.get("uniqueItems") is True:  # a set, in which a repeated item says nothing new
            return list({compact_json(item): item for item in nearer}.values())
        return nearer


def _word(value: Any) -> str:
    return value.strip().lower() if isinstance(value, str) else compact_json(value)


def _number(kind: str, word: str, text: str) -> Any:
    if _INTEGER.match(word):
        return int(word)
    if not _NUMBER.match(word):
        return text
    value = float(word)
    if kind == "integer":
        return int(value) if value.is_integer() else text
    return value if value not in {float("inf"), float("-inf")} else text


def _container(word: str, kind: type) -> Any:
    """The list or object that a text spells, as JSON or as Python; None where it spells none."""
    if not word.startswith("[" if kind is list else "{") or len(word) > _MOST_TEXT:
        return None
    try:
        read = read_json(word)
    except ValueError:
        read = _python(word)
    return read if isinstance(read, kind) else None


def _python(word: str) -> Any:
    if len(word) > _MOST_PYTHON_TEXT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape in the model's text
            return json_copy(ast.literal_eval(word))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, NotJsonError):
        return None

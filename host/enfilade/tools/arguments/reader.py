"""Reads what a model gave as arguments: as an object that fits the tool, or as a fault it can mend."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft202012Validator

from enfilade.tools.arguments.coercion import Coercion
from enfilade.tools.arguments.complaint import complaint, faults_of
from enfilade.tools.json_value import NotJsonError, clean_text, json_copy, read_json
from enfilade.tools.names import near
from enfilade.tools.schemas.schema import ToolSchema
from enfilade_sdk.errors import InvalidParamsError

_MOST_OPENED = 3
_WRAPPERS = frozenset({"arguments", "parameters", "args", "params", "kwargs", "input", "properties"})
_NAME_KEYS = frozenset({"name", "tool", "tool_name", "function"})


class ArgumentsError(InvalidParamsError):
    """The arguments do not fit; the text tells the model what was expected, which fields there are and what came."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments as the tool gets them, and the names of those that were dropped."""

    values: dict[str, Any]
    dropped: tuple[str, ...] = ()


class ArgumentReader:
    """Reads the arguments of one tool.

    The user's fixed values always win, and what is the user's to give is dropped when the model gives it. A parameter
    that the tool does not know is passed on where the schema leaves that open; where it does not, it is dropped,
    unless its name is nearly that of a parameter that was not given: then the model is asked.

    Args:
        tool: The tool's name, for texts.
        schema: Its schema.
        fixed: Values that the user fixed, already checked.
    """

    def __init__(self, tool: str, schema: ToolSchema, fixed: Mapping[str, Any] | None = None) -> None:
        self._tool = tool
        self._schema = schema.without(fixed or {})
        self._fixed = dict(fixed or {})
        self._hidden = {*self._fixed, *schema.user}
        self._coercion = Coercion(schema.check)
        self._validator = Draft202012Validator(schema.check, offline=True)

    @property
    def offered(self) -> dict[str, Any]:
        """The schema for the model, without what the user fixed."""
        return self._schema.offered

    def read(self, given: object) -> Arguments:
        """Reads arguments given as JSON text, as an object, or as the bare value of the only parameter that is needed.

        Raises:
            ArgumentsError: They do not fit.
        """
        values, spare = self._object(given)
        mine, dropped = self._known(values)
        merged = {**self._schema.defaults, **mine, **json_copy(self._fixed)}
        if not self._validator.is_valid(merged):
            merged = self._nearer(merged)
            errors = faults_of(self._validator.iter_errors(merged), self._schema, self._hidden)
            if errors:
                raise ArgumentsError(complaint(self._tool, self._schema, errors, given))
        return Arguments(merged, (*dropped, *spare))

    def _nearer(self, merged: dict[str, Any]) -> dict[str, Any]:
        try:
            nearer = self._coercion.nearer(self._schema.check, merged)
        except RecursionError:
            return merged
        return {**nearer, **json_copy(self._fixed)}

    def _known(self, values: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        dropped = [name for name in values if name in self._hidden]
        if self._schema.closed and "patternProperties" not in self._schema.check:
            free = [name for name in self._schema.offered["properties"] if name not in values]
            unknown = [name for name in values if name not in self._schema.properties]
            dropped += [name for name in unknown if not near(name, free)]
        return {name: value for name, value in values.items() if name not in dropped}, dropped

    def _object(self, given: object) -> tuple[dict[str, Any], tuple[str, ...]]:
        try:
            value, text = _opened(given) if isinstance(given, str) else (json_copy(given), None)
        except NotJsonError as error:
            raise self._fault(f"they are not JSON: {error}", repr(given)[:200]) from None
        if isinstance(value, dict):
            return self._unwrapped(value), ()
        if value is None and not text:
            return {}, ()
        if not self._schema.offered["properties"]:
            return {}, ("input",)
        name = self._meant()
        if name is None or _is_broken_object(value, text, name):
            raise self._fault(_why(text), given)
        return {name: self._alone(name, value, text)}, ()

    def _unwrapped(self, value: dict[str, Any]) -> dict[str, Any]:
        """The arguments in `{"arguments": {...}}`, perhaps beside the tool's name; else the object as it is."""
        properties = self._schema.offered["properties"]
        keys = [key for key in value if not (key in _NAME_KEYS and value[key] == self._tool)]
        inner = value[keys[0]] if len(keys) == 1 and keys[0] in _WRAPPERS and keys[0] not in properties else None
        fits = isinstance(inner, dict) and bool(inner) and inner.keys() <= properties.keys()
        return inner if fits and isinstance(inner, dict) else value

    def _meant(self) -> str | None:
        """The parameter that a bare value is for: the only one, or the only one that has to be given."""
        names = list(self._schema.offered["properties"])
        required = self._schema.offered.get("required", names)
        return required[0] if len(required) == 1 else None

    def _alone(self, name: str, value: Any, text: str | None) -> Any:
        """What that parameter gets: the value as it was read where that fits, else the text itself."""
        if text is None:
            return value
        part = self._schema.check["properties"].get(name, {})
        if part and value is not None and not self._coercion.fits(part, text):
            return value
        return text

    def _fault(self, fault: str, given: object) -> ArgumentsError:
        return ArgumentsError(complaint(self._tool, self._schema, [fault], given))


def _opened(text: str) -> tuple[Any, str]:
    """The JSON value in a text and the text itself; JSON in a JSON string is opened. None where there is no JSON."""
    text = clean_text(text)
    value: Any = text.lstrip("\ufeff").strip()
    for _ in range(_MOST_OPENED):
        text = value
        try:
            value = json_copy(read_json(text)) if text else None
        except ValueError:
            return None, text
        if not isinstance(value, str):
            return value, "" if text == "null" else text
        value = value.strip()
    return None, text


def _is_broken_object(value: Any, text: str | None, name: str) -> bool:
    return value is None and bool(text) and text is not None and text.startswith("{") and f'"{name}"' in text


def _why(text: str | None) -> str:
    reason = ""
    if text is not None and text[:1] in {"{", "["}:
        try:
            read_json(text)
        except ValueError as error:
            reason = f" ({error})"
    return f"they are not a JSON object{reason}"

"""Tells a model what is wrong with its arguments and what was expected."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from jsonschema_rs import ValidationError, ValidationErrorKind

from enfilade.tools.arguments.expectation import expected, fields
from enfilade.tools.json_value import compact_json
from enfilade.tools.names import did_you_mean
from enfilade.tools.schemas.fold import choice_words
from enfilade.tools.schemas.keywords import Schema
from enfilade.tools.schemas.schema import ToolSchema

_MOST_FAULTS = 10
_MOST_SHOWN = 200
_MOST_GIVEN = 500

_NOT_KNOWN = (
    ValidationErrorKind.AdditionalProperties,
    ValidationErrorKind.UnevaluatedProperties,
)
_CHOICES = (ValidationErrorKind.AnyOf, ValidationErrorKind.OneOfNotValid, ValidationErrorKind.OneOfMultipleValid)
_OWN_WORDS = (
    ValidationErrorKind.Type,
    ValidationErrorKind.Enum,
    ValidationErrorKind.Constant,
    ValidationErrorKind.Minimum,
    ValidationErrorKind.Maximum,
    ValidationErrorKind.ExclusiveMinimum,
    ValidationErrorKind.ExclusiveMaximum,
    ValidationErrorKind.MultipleOf,
    ValidationErrorKind.MinLength,
    ValidationErrorKind.MaxLength,
    ValidationErrorKind.MinItems,
    ValidationErrorKind.MaxItems,
    ValidationErrorKind.Pattern,
)


def complaint(tool: str, schema: ToolSchema, faults: Sequence[str], given: object) -> str:
    """The whole text: each fault in a line, the parameters there are, what came.

    Args:
        tool: The tool's name.
        schema: The schema of its arguments.
        faults: What is wrong, a sentence each.
        given: What came.
    """
    lines = [f"the arguments do not fit the tool {tool}:", *(f"- {fault}" for fault in faults[:_MOST_FAULTS])]
    if len(faults) > _MOST_FAULTS:
        lines.append(f"- and {len(faults) - _MOST_FAULTS} more")
    lines.append(f"expected: {object_words(schema)}")
    lines.append(f"got: {shown(given, _MOST_GIVEN)}")
    return "\n".join(lines)


def object_words(schema: ToolSchema) -> str:
    """What the arguments of a tool are, its fields included."""
    if not schema.offered["properties"]:
        return "an object without fields, {}"
    words = f"a JSON object with the fields {fields(schema.offered, schema.offered.get('$defs', {}))}"
    choice = schema.offered.get("description", "")
    return f"{words}. {choice}" if choice and "sets of parameters" in choice else words


def shown(value: object, most: int = _MOST_SHOWN) -> str:
    """The value as JSON, a long one cut."""
    text = compact_json(value if not isinstance(value, str) else value[: most + 1])
    return text if len(text) <= most else f"{text[:most]}... ({_size(value)})"


def _size(value: object) -> str:
    return f"{len(value)} characters in all" if isinstance(value, str) else "cut"


def faults_of(errors: Iterable[ValidationError], schema: ToolSchema, hidden: Collection[str]) -> list[str]:
    """A line for each error of the check; values of the user are not shown."""
    errors = list(errors)
    lines = dict.fromkeys(line for error in errors for line in _lines(error, schema, hidden))
    return list(lines) or ["the fields do not go together"] * bool(errors)


def _lines(error: ValidationError, schema: ToolSchema, hidden: Collection[str]) -> list[str]:
    path = list(error.instance_path)
    part = _part(schema.check, list(error.schema_path)[:-1])
    definitions = schema.check.get("$defs", {})
    if isinstance(error.kind, ValidationErrorKind.Required):
        name = error.kind.property
        what = expected(part.get("properties", {}).get(name), definitions)
        return [f"{_label([*path, name])} is missing; it is required: {what}"]
    if isinstance(error.kind, _NOT_KNOWN):
        known = _known(part, schema, path)
        unknown = [name for name in error.kind.unexpected if name not in known]
        return [f"{_label([*path, name])} is not a parameter.{did_you_mean(name, known)}" for name in unknown]
    if isinstance(error.kind, _CHOICES) and not path:
        return [_choice(error, part)]
    if path and path[0] in hidden:
        return [f"{_label(path[:1])}, which the user has set, does not go with these arguments"]
    if isinstance(error.kind, (*_OWN_WORDS, *_CHOICES)):
        return [f"{_label(path)}: expected {expected(part, definitions)}, got {shown(error.instance)}"]
    return [f"{_label(path)}: {error.message[:_MOST_SHOWN]}"]


def _choice(error: ValidationError, part: Schema) -> str:
    keyword = str(list(error.schema_path)[-1])
    branches = [branch for branch in part.get(keyword, []) if isinstance(branch, dict)]
    return choice_words(keyword, branches) or "the fields do not go together"


def _known(part: Schema, schema: ToolSchema, path: list[Any]) -> Collection[str]:
    names = part.get("properties", {})
    return [*names, *schema.offered["properties"]] if not path else list(names)


def _label(path: Sequence[str | int]) -> str:
    label = ""
    for step in path:
        label += f"[{step}]" if isinstance(step, int) else f".{step}" if label else step
    return label or "the arguments"


def _part(schema: Any, path: list[Any]) -> Schema:
    for step in path:
        if (isinstance(schema, dict) and step in schema) or (
            isinstance(schema, list) and isinstance(step, int) and step < len(schema)
        ):
            schema = schema[step]
        else:
            return {}
    return schema if isinstance(schema, dict) else {}

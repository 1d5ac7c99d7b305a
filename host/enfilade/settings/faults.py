"""What is wrong with settings, in words for whoever wrote them."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from enfilade_sdk.parameters.fault import brief, did_you_mean, kind_of

Place = tuple[int | str, ...]
"""Where a setting is: the names of the tables around it, places in lists, and its own name."""

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "string": "a text",
    "path": "a path",
    "tuple": "a list",
    "list": "a list",
    "dict": "a table",
    "mapping": "a table",
    "model": "a table",
}
"""What is expected, by the first word of pydantic's error type where the rest says that it is of another kind."""

_OF_ANOTHER_KIND = ("_type", "_parsing", "_from_float", "_number", "_attributes_type")
_BOUNDS = {
    "greater_than": ("gt", "more than {}"),
    "greater_than_equal": ("ge", "{} or more"),
    "less_than": ("lt", "less than {}"),
    "less_than_equal": ("le", "{} or less"),
}


def faults_of(
    error: ValidationError,
    where: str,
    model: type[BaseModel] | None = None,
    sources: Mapping[Place, str] | None = None,
) -> str:
    """One text for all that is wrong with settings.

    Args:
        error: What was found.
        where: Where they were written.
        model: What they were read as, so that misspelt names can be told from what there is.
        sources: Where those were written that were written elsewhere, by their places.
    """
    lines = "".join(f"\n  - {_line(fault, model, sources or {})}" for fault in error.errors())
    return f"{where} has {error.error_count()} fault(s):{lines}"


def words_of(fault: ErrorDetails, known: Iterable[str] = ()) -> str:
    """What is wrong with one setting: what was expected and what was found, never a text that may be a secret.

    Args:
        fault: As pydantic has it.
        known: The settings that there are in the same place.
    """
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        names = sorted(known)
        return f"there is no such setting; {did_you_mean(str(fault['loc'][-1]), names, _there_are(names))}"
    if kind == "missing":
        return "it has to be set"
    if "error" in context:
        return str(context["error"])
    if kind == "literal_error":
        return f"expected {context['expected']}, found {brief(value)}"
    if kind in _BOUNDS:
        name, form = _BOUNDS[kind]
        return f"expected {form.format(_short(context[name]))}, found {brief(value)}"
    if kind.startswith("byte_size"):
        return f'expected a size such as 1048576 or "512 MiB", found {brief(value)}'
    expected = _KINDS.get(kind.partition("_")[0])
    if expected and kind.endswith(_OF_ANOTHER_KIND):
        shown = kind_of(value) if isinstance(value, str) and not kind.endswith("_parsing") else brief(value)
        return f"expected {expected}, found {shown}"
    return fault["msg"]


def _line(fault: ErrorDetails, model: type[BaseModel] | None, sources: Mapping[Place, str]) -> str:
    place = fault["loc"]
    source = next((source for path, source in sources.items() if place[: len(path)] == path), "")
    name = ".".join(map(str, place)) or "the file"
    return f"{name}{f' ({source})' if source else ''}: {words_of(fault, _fields_at(model, place[:-1]))}"


def _short(bound: object) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _there_are(names: list[str]) -> str:
    return f"there are: {', '.join(names)}" if names else "leave it out"


def _fields_at(model: Any, place: Place) -> list[str]:
    """The names of the settings in a table, as far as its model tells."""
    for part in place:
        fields = getattr(model, "model_fields", None)
        if fields is None:
            model = next((inner for inner in reversed(get_args(model)) if inner not in (Ellipsis, type(None))), None)
        elif part in fields:
            model = fields[part].annotation
        else:
            return []
    return sorted(getattr(_plain(model), "model_fields", {}))


def _plain(model: Any) -> Any:
    """Of a model or None, the model."""
    return next((inner for inner in get_args(model) if hasattr(inner, "model_fields")), model)

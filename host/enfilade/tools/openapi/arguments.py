"""The arguments of an operation as one flat object, which is what models fill in best."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from enfilade.tools.openapi.operation import Operation, Parameter
from enfilade.tools.openapi.references import References
from enfilade.tools.schemas.keywords import Schema

BODY = "body"
"""The argument that is the whole body, where the body is no object whose fields could be arguments themselves."""

_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 64
_CHOICES = ("allOf", "anyOf", "oneOf", "not", "if", "discriminator", "patternProperties")


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument, and where it goes.

    Attributes:
        name: What the model calls it.
        key: What the interface calls it.
        place: Where it goes: a parameter, a field of the body, or the whole body.
        schema: Its schema.
        required: Whether it has to be given.
        description: Words for the model.
        parameter: The parameter it is; None for a part of the body.
    """

    name: str
    key: str
    place: Literal["parameter", "field", "body"]
    schema: Any
    required: bool
    description: str = ""
    parameter: Parameter | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """All arguments of an operation.

    Attributes:
        slots: The arguments, and where they go.
        schema: What a model has to fill in.
    """

    slots: tuple[Slot, ...]
    schema: Schema


def form_of(operation: Operation, references: References) -> Form:
    """The arguments of an operation.

    Raises:
        OperationFault: Its schema is too large, or nested too deeply.
    """
    slots = _slots_of(operation, references)
    return Form(slots, _schema_of(slots, references))


def _slots_of(operation: Operation, references: References) -> tuple[Slot, ...]:
    """The arguments: the parameters and, where the body is a plain object, its fields; else the body as a whole.

    Where two have one name, the later one is named for where it goes: `id` and `id_query`.
    """
    taken: set[str] = set()
    slots = [_of_parameter(parameter, taken) for parameter in operation.parameters]
    return (*slots, *_of_body(operation, references, taken))


def _schema_of(slots: Sequence[Slot], references: References) -> Schema:
    """The schema of these arguments.

    Raises:
        OperationFault: It is too large, or nested too deeply.
    """
    schemas, definitions = references.self_contained({slot.name: slot.schema for slot in slots})
    properties = {slot.name: _described(schemas[slot.name], slot.description) for slot in slots}
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [slot.name for slot in slots if slot.required]:
        schema["required"] = required
    return schema | ({"$defs": definitions} if definitions else {})


def _of_parameter(parameter: Parameter, taken: set[str]) -> Slot:
    return Slot(
        name=_free(parameter.name, parameter.place, taken),
        key=parameter.name,
        place="parameter",
        schema=parameter.schema,
        required=parameter.required,
        description=parameter.description,
        parameter=parameter,
    )


def _of_body(operation: Operation, references: References, taken: set[str]) -> list[Slot]:
    body = operation.body
    if body is None:
        return []
    fields = _fields(references.resolved(body.schema)) if body.kind != "text" else None
    if fields is None:
        name = _free(BODY, BODY, taken)
        return [Slot(name, "", "body", body.schema, body.required, body.description)]
    resolved = references.resolved(body.schema)
    needed = resolved.get("required")
    required = {one for one in needed if isinstance(one, str)} if isinstance(needed, list) and body.required else set()
    return [Slot(_free(key, BODY, taken), key, "field", part, key in required) for key, part in fields.items()]


def _fields(schema: Any) -> dict[str, Any] | None:
    """The properties of a plain object that only the caller sets; None for everything else."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties or any(keyword in schema for keyword in _CHOICES):
        return None
    if schema.get("type", "object") != "object" or isinstance(schema.get("additionalProperties"), dict):
        return None
    return {
        str(key): part
        for key, part in properties.items()
        if not (isinstance(part, dict) and part.get("readOnly") is True)
    }


def _free(key: str, place: str, taken: set[str]) -> str:
    name = _NAME.sub("_", key).strip("_")[:_LONGEST] or place
    free, number = name, 1
    while free in taken:
        end = f"_{place}" if number == 1 else f"_{place}_{number}"
        free, number = name[: _LONGEST - len(end)] + end, number + 1
    taken.add(free)
    return free


def _described(schema: Any, description: str) -> Any:
    if not description or not isinstance(schema, dict):
        return schema
    return {**schema, "description": description}

"""The parameters of a strategy as JSON Schema, so that forms can be drawn from them."""

from collections.abc import Callable, Iterable
from typing import Any

from enfilade_sdk.parameters.declaration import AgentStrategyParameter
from enfilade_sdk.parameters.json_value import copied
from enfilade_sdk.parameters.kind import HOST_TYPES, ParameterType
from enfilade_sdk.parameters.localized import ENGLISH, in_language
from enfilade_sdk.parameters.shape import shape_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def parameters_schema(declared: Iterable[AgentStrategyParameter], *, language: str = ENGLISH) -> dict[str, Any]:
    """JSON Schema 2020-12 of the params: it takes exactly what `check_params` takes, once None values are left out.

    What JSON Schema has no word for stands under `x-enfilade-...`: `type` (secrets, files, models, apps, tools),
    `scope`, `labels` (of options), `auto-generate`, `template`.

    Args:
        declared: The parameters.
        language: The language of titles, descriptions and labels; English where a text lacks it.
    """
    declared = list(declared)
    form: dict[str, Any] = {
        "$schema": DIALECT,
        "type": "object",
        "properties": {parameter.name: parameter_schema(parameter, language=language) for parameter in declared},
        "additionalProperties": False,
    }
    required = [p.name for p in declared if p.required and p.default is None]
    return form | ({"required": required} if required else {})


def parameter_schema(parameter: AgentStrategyParameter, *, language: str = ENGLISH) -> dict[str, Any]:
    """JSON Schema of one parameter's values."""
    form: dict[str, Any] = {"title": parameter.title(language)}
    if description := in_language(parameter.help, language):
        form["description"] = description
    form |= _value_schema(parameter)
    if parameter.default is not None:
        form["default"] = copied(parameter.default)
    return form | _extensions(parameter, language)


def _value_schema(parameter: AgentStrategyParameter) -> dict[str, Any]:
    shape = shape_of(parameter.type, parameter.scope)
    if shape is None:
        return _SCHEMAS[parameter.type](parameter)
    if parameter.type in {ParameterType.FILES, ParameterType.TOOLS}:
        return {"type": "array", "items": shape.schema()}
    return shape.schema()


def _number(parameter: AgentStrategyParameter) -> dict[str, Any]:
    form: dict[str, Any] = {"type": "number"}
    if parameter.min is not None:
        form["minimum"] = parameter.min
    if parameter.max is not None:
        form["maximum"] = parameter.max
    if parameter.precision is not None:
        form["multipleOf"] = float(f"1e-{parameter.precision}") if parameter.precision else 1
    return form


def _select(parameter: AgentStrategyParameter) -> dict[str, Any]:
    one = {"type": "string", "enum": list(parameter.choices)}
    return {"type": "array", "items": one, "uniqueItems": True} if parameter.multiple else one


_SCHEMAS: dict[ParameterType, Callable[[AgentStrategyParameter], dict[str, Any]]] = {
    ParameterType.STRING: lambda _: {"type": "string"},
    ParameterType.SECRET_INPUT: lambda _: {"type": "string", "format": "password", "writeOnly": True},
    ParameterType.BOOLEAN: lambda _: {"type": "boolean"},
    ParameterType.ARRAY: lambda _: {"type": "array"},
    ParameterType.OBJECT: lambda _: {"type": "object"},
    ParameterType.ANY: lambda _: {},
    ParameterType.NUMBER: _number,
    ParameterType.SELECT: _select,
}


def _extensions(parameter: AgentStrategyParameter, language: str) -> dict[str, Any]:
    labels = {o.value: text for o in parameter.options if (text := in_language(o.label, language)) not in {"", o.value}}
    found = {
        "type": parameter.type.value if parameter.type in HOST_TYPES else None,
        "scope": parameter.scope,
        "labels": labels or None,
        "auto-generate": parameter.auto_generate.type if parameter.auto_generate else None,
        "template": parameter.template.enabled if parameter.template else None,
    }
    return {f"x-enfilade-{key}": value for key, value in found.items() if value is not None}

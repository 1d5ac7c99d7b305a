"""Values that the user fixed for a tool, checked once, when the tool is set up."""

from collections.abc import Mapping
from typing import Any

from enfilade.tools.arguments.coercion import Coercion
from enfilade.tools.arguments.complaint import shown
from enfilade.tools.arguments.expectation import expected
from enfilade.tools.json_value import NotJsonError, json_copy
from enfilade.tools.names import did_you_mean
from enfilade.tools.schemas.schema import ToolSchema
from enfilade_sdk.errors import InvalidParamsError


def fixed_values(tool: str, schema: ToolSchema, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """The user's values in the types that the tool's schema asks for.

    Raises:
        InvalidParamsError: A value does not fit, is for a parameter that is not there, or one that only the user can
            give is missing; all faults at once.
    """
    coercion = Coercion(schema.check)
    values: dict[str, Any] = {}
    faults = []
    for name, value in fixed.items():
        part = schema.properties.get(name)
        if part is None and not _takes_more(schema):
            faults.append(f"it has no parameter {name!r}.{_remedy(name, schema)}")
            continue
        try:
            values[name] = coercion.nearer(part, json_copy(value))
        except NotJsonError as error:
            faults.append(f"parameter {name!r}: {error}")
            continue
        if isinstance(part, dict) and not coercion.fits(part, values[name]):
            came = "another value" if name in schema.user and schema.user[name].secret else shown(value)
            faults.append(f"parameter {name!r}: expected {expected(part, schema.check.get('$defs', {}))}, got {came}")
    faults += [
        f"parameter {name!r} ({parameter.type}) is required and no model can give it; "
        f"set it in the tool's entry: fixed = {{{name} = ...}}"
        for name, parameter in schema.user.items()
        if parameter.required and name not in fixed
    ]
    if faults:
        raise InvalidParamsError(
            f"the tool {tool} cannot be set up with its fixed parameters: {'; '.join(faults)}", details={"tool": tool}
        )
    return values


def _takes_more(schema: ToolSchema) -> bool:
    others = schema.check.get("additionalProperties")
    return others is True or isinstance(others, dict) or "patternProperties" in schema.check


def _remedy(name: str, schema: ToolSchema) -> str:
    names = ", ".join(schema.properties)
    return did_you_mean(name, schema.properties) or (f" It has {names}" if names else " It has none at all")

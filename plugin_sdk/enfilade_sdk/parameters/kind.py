"""The types a parameter may have."""

from enum import StrEnum
from typing import Any

from enfilade_sdk.parameters.fault import UnfitError, brief, did_you_mean


class ParameterType(StrEnum):
    """What kind of value a parameter takes. `tools` is accepted as another spelling of `array[tools]`."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    SELECT = "select"
    SECRET_INPUT = "secret-input"  # noqa: S105 - the name of a type, not a secret
    FILE = "file"
    FILES = "files"
    MODEL_SELECTOR = "model-selector"
    APP_SELECTOR = "app-selector"
    TOOLS = "array[tools]"
    ARRAY = "array"
    OBJECT = "object"
    ANY = "any"


HOST_TYPES = frozenset(
    {
        ParameterType.SECRET_INPUT,
        ParameterType.FILE,
        ParameterType.FILES,
        ParameterType.MODEL_SELECTOR,
        ParameterType.APP_SELECTOR,
        ParameterType.TOOLS,
    }
)
"""Types that no JSON Schema knows; a form draws them with controls of its own."""


def parameter_type(value: Any) -> ParameterType:
    """Reads a type in any of its spellings.

    Raises:
        UnfitError: There is no such type; the text lists those there are and names near ones.
    """
    if value == "tools":
        return ParameterType.TOOLS
    names = [kind.value for kind in ParameterType]
    if isinstance(value, str) and value in names:
        return ParameterType(value)
    remedy = did_you_mean(value if isinstance(value, str) else "", names, "choose one of them")
    raise UnfitError(f"one of the types {', '.join(names)}", brief(value), remedy)

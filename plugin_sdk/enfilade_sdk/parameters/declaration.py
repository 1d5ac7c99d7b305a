"""One declared parameter of a strategy."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    StrictBool,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from enfilade_sdk.errors import NotAdmittedError
from enfilade_sdk.parameters.consistency import declaration_faults
from enfilade_sdk.parameters.fault import (
    ParameterFault,
    UnfitError,
    brief,
    details,
    did_you_mean,
    kind_of,
    listed,
    shown_name,
)
from enfilade_sdk.parameters.kind import ParameterType, parameter_type
from enfilade_sdk.parameters.localized import ENGLISH, Localized, in_language, localized

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_UNNAMED = "unnamed"
_Made = TypeVar("_Made", bound=BaseModel)
_MOST_PLACES = 15  # a double has no more reliable decimal digits


class ParameterDeclarationError(NotAdmittedError):
    """Declared parameters are at fault; `details["faults"]` has every fault, the text names each."""

    def __init__(self, faults: Sequence[ParameterFault]) -> None:
        super().__init__(listed("the declared parameters are not valid", faults), details=details(faults))
        self.faults = tuple(faults)


def _name(value: Any) -> str:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    expected = "1 to 64 letters, digits, '_' and '-', the first one a letter or '_'"
    raise UnfitError(expected, brief(value), "rename the parameter")


def _number(value: Any) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value):
        return value
    raise UnfitError("a finite number", brief(value), "give a number or leave it out")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond what a double holds
        return False


def _precision(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_PLACES:
        return value
    raise UnfitError(f"a whole number of decimal places from 0 to {_MOST_PLACES}", brief(value), "correct it")


def _option(value: Any) -> Any:
    if isinstance(value, str):
        return {"value": value}
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ParameterOption(_Part):
    """One choice of a select: the value that is sent, and what people see (the value itself when empty)."""

    value: str
    label: Annotated[Localized, BeforeValidator(localized)] = ""


class AutoGenerate(_Part):
    """A form may offer to have this text written by a model: as a prompt or as code."""

    type: Literal["prompt_instruction", "code_instruction"]


class Template(_Part):
    """Whether a form may offer to write this text as a template."""

    enabled: StrictBool = False


class AgentStrategyParameter(BaseModel):
    """One parameter that a strategy declares. It is checked as it is made, all faults at once.

    Attributes:
        name: Its key in `params`: 1 to 64 letters, digits, `_` and `-`.
        label: What people see, a text or texts by language; the name when empty.
        help: What it is for, a text or texts by language.
        type: Which values it takes; see `ParameterType`.
        required: Whether a run without it (and without a default) is refused.
        default: The value where none is given; not for secrets, because declarations are published.
        min: The least number.
        max: The greatest number.
        precision: Decimal places of a number, 0 to 15.
        options: The choices of a select, as texts or as `{"value": ..., "label": ...}`.
        multiple: Whether a select takes a list of different options.
        scope: Which files, models, apps or tools are meant, words joined by `&`; see `scope`.
        auto_generate: For texts: a form may offer to have it written.
        template: For texts: a form may offer to write it as a template.

    Raises:
        ParameterDeclarationError: The declaration is at fault.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, BeforeValidator(_name)]
    type: Annotated[ParameterType, BeforeValidator(parameter_type)]
    label: Annotated[Localized, BeforeValidator(localized)] = ""
    help: Annotated[Localized, BeforeValidator(localized)] = ""
    required: StrictBool = False
    default: Any = None
    min: Annotated[int | float, BeforeValidator(_number)] | None = None
    max: Annotated[int | float, BeforeValidator(_number)] | None = None
    precision: Annotated[int, BeforeValidator(_precision)] | None = None
    options: tuple[Annotated[ParameterOption, BeforeValidator(_option)], ...] = ()
    multiple: StrictBool = False
    scope: str | None = None
    auto_generate: AutoGenerate | None = None
    template: Template | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _all_faults_at_once(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            fault = ParameterFault(_UNNAMED, "an object with 'name' and 'type'", kind_of(value), "declare it as one")
            raise ParameterDeclarationError([fault])
        given = {str(key): item for key, item in value.items() if item is not None}
        made, faults = _lenient(given, handler)
        if made is not None:
            faults += declaration_faults(made)
        if faults or made is None:
            raise ParameterDeclarationError(faults)
        return made

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of the options."""
        return tuple(option.value for option in self.options)

    def title(self, language: str = ENGLISH) -> str:
        """What people see: the label in a language, else the name."""
        return in_language(self.label, language) or self.name

    def to_json(self) -> dict[str, Any]:
        """The JSON form, without what was left out."""
        return self.model_dump(mode="json", exclude_defaults=True)


def _lenient(
    given: dict[str, Any], handler: ModelWrapValidatorHandler[_Made]
) -> tuple[_Made | None, list[ParameterFault]]:
    """What can be made of a declaration without the fields at fault, so that the rest is checked as well."""
    try:
        return handler(given), []
    except ValidationError as error:
        errors = error.errors(include_url=False)
    name = given.get("name")
    label = shown_name(name) if isinstance(name, str) and name else _UNNAMED
    faults = [_field_fault(label, each) for each in errors]
    bad = {str(each["loc"][0]) for each in errors}
    if "type" in bad:
        return None, faults
    sound = {key: item for key, item in given.items() if key not in bad}
    return handler(sound | ({"name": _UNNAMED} if "name" in bad else {})), faults


def _field_fault(name: str, error: ErrorDetails) -> ParameterFault:
    where = ".".join(map(str, error["loc"]))
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, UnfitError):
        return ParameterFault(name, f"{where} to be {cause.expected}", cause.found, cause.remedy)
    if error["type"] == "missing":
        return ParameterFault(name, f"the field {where!r}", "a declaration without it", "add it")
    if error["type"] == "extra_forbidden":
        fields = AgentStrategyParameter.model_fields if len(error["loc"]) == 1 else ()
        expected = f"only the fields {', '.join(fields)}" if fields else "only the fields there are"
        remedy = did_you_mean(where, fields, "leave it out")
        return ParameterFault(name, expected, f"the field {where!r}", remedy)
    wanted = error["msg"].removeprefix("Input should be ")
    return ParameterFault(name, f"{where} to be {wanted}", brief(error["input"]), "correct it")

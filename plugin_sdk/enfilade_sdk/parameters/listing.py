"""The parameters of a strategy as a list, whatever way its author wrote them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from enfilade_sdk.foreign import plain
from enfilade_sdk.parameters.declaration import AgentStrategyParameter, ParameterDeclarationError
from enfilade_sdk.parameters.fault import ParameterFault, brief, kind_of, shown_name

_SHAPE = "an AgentStrategyParameter, or a dict or an object with its members"


def parameters_of(values: Iterable[object]) -> list[AgentStrategyParameter]:
    """Reads what `get_parameters` gave: parameters, dicts, or foreign objects of the same shape.

    Raises:
        ParameterDeclarationError: Something is wrong with them; the error has every fault of every parameter.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        fault = ParameterFault("parameters", "a list of parameters", brief(values), "return a list, empty for none")
        raise ParameterDeclarationError([fault])
    made: list[AgentStrategyParameter] = []
    faults: list[ParameterFault] = []
    names: list[str] = []
    for place, value in enumerate(values, start=1):
        names.extend(_names(value))
        try:
            made.append(_parameter(value, place))
        except ParameterDeclarationError as error:
            faults.extend(error.faults)
    faults.extend(_repeated(names))
    if faults:
        raise ParameterDeclarationError(faults)
    return made


def _names(value: object) -> list[str]:
    """The name of a declaration, also of one that is at fault."""
    name = value.get("name") if isinstance(value, Mapping) else getattr(value, "name", None)
    return [name] if isinstance(name, str) else []


def _repeated(names: list[str]) -> list[ParameterFault]:
    expected, remedy = "every name once", "rename or remove the others"
    return [
        ParameterFault(shown_name(name), expected, f"{times} parameters of this name", remedy)
        for name, times in Counter(names).items()
        if times > 1
    ]


def _parameter(value: object, place: int) -> AgentStrategyParameter:
    if isinstance(value, AgentStrategyParameter):
        return value
    if isinstance(value, Mapping):
        return AgentStrategyParameter.model_validate(value)
    if hasattr(value, "name") and hasattr(value, "type"):
        return AgentStrategyParameter.model_validate(_foreign_form(value))
    fault = ParameterFault(f"parameter {place}", _SHAPE, kind_of(value), "declare it as one of these")
    raise ParameterDeclarationError([fault])


def _foreign_form(value: object) -> dict[str, Any]:
    """The members a foreign object shares with ours; what else it has is not ours to judge."""
    form = {name: plain(getattr(value, name, None)) for name in AgentStrategyParameter.model_fields}
    form["options"] = [_only(option, "value", "label") for option in form["options"] or ()]
    form["auto_generate"] = _only(form["auto_generate"], "type")
    form["template"] = _only(form["template"], "enabled")
    return form


def _only(value: Any, *names: str) -> Any:
    return {name: value[name] for name in names if name in value} if isinstance(value, dict) else value

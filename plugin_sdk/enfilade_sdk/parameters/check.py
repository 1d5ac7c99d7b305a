"""The parameters of one run against what the strategy declares."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.parameters.declaration import AgentStrategyParameter
from enfilade_sdk.parameters.fault import ParameterFault, brief, details, did_you_mean, listed, shown_name
from enfilade_sdk.parameters.json_value import copied
from enfilade_sdk.parameters.kind import ParameterType
from enfilade_sdk.parameters.value import expected_of, value_faults

MASK = "***"
"""What stands for a secret in logs and records."""


def check_params(declared: Sequence[AgentStrategyParameter], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The params of a run: what was given, defaults for what is missing, in the order of the declarations.

    Missing is what is not there or None; `""`, `[]`, `0` and `False` are values. A parameter that is missing, not
    required and without a default is left out. Nothing is coerced. The result shares no list or object with `given`
    or with the declared defaults.

    Raises:
        InvalidParamsError: Something does not fit. The one error has all faults, in its text and in
            `details["faults"]` as `{parameter, expected, found, remedy}`; the value of a secret is in neither.
    """
    values = _values(given)
    faults = _undeclared(declared, values)
    params: dict[str, Any] = {}
    for parameter in declared:
        value = values.get(parameter.name)
        if value is not None:
            faults += value_faults(parameter, value)
            params[parameter.name] = value
        elif parameter.default is not None:
            params[parameter.name] = parameter.default
        elif parameter.required:
            expected = f"a value ({expected_of(parameter)})"
            faults.append(ParameterFault(parameter.name, expected, "nothing", "give one; this parameter is required"))
    if faults:
        raise invalid_params(faults)
    return {name: copied(value) for name, value in params.items()}


def invalid_params(faults: Sequence[ParameterFault]) -> InvalidParamsError:
    """The one error that reports all faults."""
    return InvalidParamsError(
        listed("the params do not fit what the strategy declares", faults), details=details(faults)
    )


def undeclared_fault(name: str, declared: Iterable[AgentStrategyParameter]) -> ParameterFault:
    """The fault of a name that no parameter has. Its value is not shown: it may be a secret under a wrong name."""
    names = [parameter.name for parameter in declared]
    there_are = f"one of the parameters {', '.join(names)}" if names else "no parameters (this strategy declares none)"
    remedy = did_you_mean(name, names, "leave it out")
    return ParameterFault(shown_name(name), there_are, "a name that is not declared", remedy)


def masked(declared: Iterable[AgentStrategyParameter], params: Mapping[str, Any]) -> dict[str, Any]:
    """The params for logs and records: `***` for each secret and for each name that is not declared.

    An undeclared name may be a secret under a wrong name. Missing secrets (None) stay None.
    """
    plain = {parameter.name for parameter in declared if parameter.type is not ParameterType.SECRET_INPUT}
    return {name: value if name in plain or value is None else MASK for name, value in params.items()}


def _values(given: object) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    expected = "an object of values by parameter name"
    raise invalid_params([ParameterFault("params", expected, brief(given), 'give one, such as {"name": "value"}')])


def _undeclared(declared: Sequence[AgentStrategyParameter], values: Mapping[Any, Any]) -> list[ParameterFault]:
    names = {parameter.name for parameter in declared}
    return [undeclared_fault(str(name), declared) for name in values if name not in names]

"""Params that fit a declaration, for runs that are not about params."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from enfilade_sdk.parameters import AgentStrategyParameter, ParameterType


def sample_params(declared: Sequence[AgentStrategyParameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given params, and a fitting value for each one that is required, missing, and without a default."""
    lacking = [p for p in declared if p.required and p.default is None and given.get(p.name) is None]
    return {parameter.name: _SAMPLES[parameter.type](parameter) for parameter in lacking} | dict(given)


def _number(parameter: AgentStrategyParameter) -> int | float:
    least, greatest = parameter.min, parameter.max
    if least is None:
        return 1 if greatest is None or greatest >= 1 else _rounded_down(greatest, parameter.precision)
    candidate = 1 if least <= 1 and (greatest is None or greatest >= 1) else least
    return -_rounded_down(-candidate, parameter.precision)


def _rounded_down(number: float, precision: int | None) -> int | float:
    if precision is None:
        return number
    rounded = round(number, precision)
    if rounded > number:
        rounded = round(rounded - 10**-precision, precision)
    return rounded


def _select(parameter: AgentStrategyParameter) -> Any:
    return [parameter.choices[0]] if parameter.multiple else parameter.choices[0]


_SAMPLES: dict[ParameterType, Callable[[AgentStrategyParameter], Any]] = {
    ParameterType.STRING: lambda _: "sample",
    ParameterType.NUMBER: _number,
    ParameterType.BOOLEAN: lambda _: False,
    ParameterType.SELECT: _select,
    ParameterType.SECRET_INPUT: lambda _: "sample-secret",
    ParameterType.FILE: lambda _: {"id": "sample", "filename": "sample"},
    ParameterType.FILES: lambda _: [],
    ParameterType.MODEL_SELECTOR: lambda _: "scripted",
    ParameterType.APP_SELECTOR: lambda _: "sample",
    ParameterType.TOOLS: lambda _: [],
    ParameterType.ARRAY: lambda _: [],
    ParameterType.OBJECT: lambda _: {},
    ParameterType.ANY: lambda _: "sample",
}

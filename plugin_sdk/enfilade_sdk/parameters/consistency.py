"""Whether a declaration agrees with itself."""

from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Protocol

from enfilade_sdk.parameters.fault import ParameterFault
from enfilade_sdk.parameters.kind import ParameterType
from enfilade_sdk.parameters.scope import scope_fault
from enfilade_sdk.parameters.value import Rules, value_faults


class Declared(Rules, Protocol):
    """All of a declaration that can contradict itself."""

    @property
    def default(self) -> object: ...  # noqa: D102 - the members are those of AgentStrategyParameter
    @property
    def auto_generate(self) -> object: ...  # noqa: D102
    @property
    def template(self) -> object: ...  # noqa: D102


_Finding = tuple[str, str, str]
"""Expected, found, remedy."""


def declaration_faults(declared: Declared) -> list[ParameterFault]:
    """All contradictions in one declaration whose fields are sound each for itself."""
    findings = [*_misplaced(declared), *_options(declared), *_bounds(declared), *_scope(declared)]
    faults = [ParameterFault(declared.name, *finding) for finding in findings]
    # Against contradictory rules every default is wrong, which would say nothing about the default.
    return faults or list(_default(declared))


def _misplaced(declared: Declared) -> Iterator[_Finding]:
    homes: dict[ParameterType, list[tuple[str, bool]]] = {
        ParameterType.NUMBER: [
            ("min", declared.min is not None),
            ("max", declared.max is not None),
            ("precision", declared.precision is not None),
        ],
        ParameterType.SELECT: [("options", bool(declared.choices)), ("multiple", declared.multiple)],
        ParameterType.STRING: [
            ("auto_generate", declared.auto_generate is not None),
            ("template", declared.template is not None),
        ],
    }
    for home, fields in homes.items():
        for field, is_set in fields:
            if is_set and declared.type is not home:
                remedy = f"leave {field} out, or change the type to {home.value!r}"
                yield f"{field} only on the type {home.value!r}", f"it on the type {declared.type.value!r}", remedy


def _options(declared: Declared) -> Iterator[_Finding]:
    if declared.type is ParameterType.SELECT and not declared.choices:
        yield "options on the type 'select'", "none", "list what can be chosen"
    for choice, times in Counter(declared.choices).items():
        if times > 1:
            yield "different options", f"the option {choice!r} {times} times", "list each option once"


def _bounds(declared: Declared) -> Iterator[_Finding]:
    least, greatest = declared.min, declared.max
    if declared.type is not ParameterType.NUMBER or least is None or greatest is None:
        return
    if least > greatest:
        yield "a min that is not above max", f"min {least} and max {greatest}", "swap or correct them"
    elif declared.precision is not None:
        step = Decimal(1).scaleb(-declared.precision)
        first = (Decimal(str(least)) / step).to_integral_value(ROUND_CEILING)
        last = (Decimal(str(greatest)) / step).to_integral_value(ROUND_FLOOR)
        if first > last:
            found = f"none from {least} to {greatest} with precision {declared.precision}"
            yield "at least one number between min and max", found, "widen the bounds or raise precision"


def _scope(declared: Declared) -> Iterator[_Finding]:
    if declared.scope is not None and (fault := scope_fault(declared.type, declared.scope)):
        expected, remedy = fault
        yield expected, f"the scope {declared.scope!r}", remedy


def _default(declared: Declared) -> Iterator[ParameterFault]:
    if declared.default is None:
        return
    if declared.type is ParameterType.SECRET_INPUT:
        expected = "no default on the type 'secret-input', because declarations are published"
        yield ParameterFault(declared.name, expected, "one (it is not shown)", "leave default out")
        return
    for fault in value_faults(declared, declared.default):
        yield ParameterFault(declared.name, f"a default that is {fault.expected}", fault.found, fault.remedy)

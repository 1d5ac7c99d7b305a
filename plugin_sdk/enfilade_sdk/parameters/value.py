"""The rules of one value: what each type takes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from enfilade_sdk.parameters.fault import ParameterFault, brief, kind_of
from enfilade_sdk.parameters.json_value import not_json
from enfilade_sdk.parameters.kind import ParameterType
from enfilade_sdk.parameters.shape import Shape, shape_of


class Rules(Protocol):
    """The part of a declaration that bounds its values."""

    @property
    def name(self) -> str: ...  # noqa: D102 - the members are those of AgentStrategyParameter
    @property
    def type(self) -> ParameterType: ...  # noqa: D102
    @property
    def min(self) -> int | float | None: ...  # noqa: D102
    @property
    def max(self) -> int | float | None: ...  # noqa: D102
    @property
    def precision(self) -> int | None: ...  # noqa: D102
    @property
    def choices(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def multiple(self) -> bool: ...  # noqa: D102
    @property
    def scope(self) -> str | None: ...  # noqa: D102


_Finding = tuple[str, str, str]
"""Expected, found, remedy."""


def value_faults(rules: Rules, value: object) -> list[ParameterFault]:
    """All that is wrong with a value that is there (None is missing, and not asked about here).

    Nothing is coerced, except that an integer is a number too. The value of a secret is in none of the texts.
    """
    return [ParameterFault(rules.name, *finding) for finding in _findings(rules, value)]


def _findings(rules: Rules, value: object) -> Iterator[_Finding]:
    if rules.type is ParameterType.SECRET_INPUT:
        yield from _secret(value)
    elif (fault := not_json(value)) is not None:
        yield expected_of(rules), fault, "give a JSON value"
    else:
        yield from _CHECKS[rules.type](rules, value)


def expected_of(rules: Rules) -> str:
    """What a parameter takes, in words."""
    shape = shape_of(rules.type, rules.scope)
    match rules.type:
        case ParameterType.NUMBER:
            return _number_in_words(rules)
        case ParameterType.SELECT:
            among = ", ".join(map(repr, rules.choices))
            return f"a list of different options among {among}" if rules.multiple else f"one of {among}"
        case ParameterType.FILES | ParameterType.TOOLS if shape:
            return f"a list, each item {shape.expected}"
        case _ if shape:
            return shape.expected
        case _:
            return _WORDS[rules.type]


_WORDS = {
    ParameterType.STRING: "a text",
    ParameterType.SECRET_INPUT: "a text",
    ParameterType.BOOLEAN: "true or false",
    ParameterType.ARRAY: "a list",
    ParameterType.OBJECT: "an object",
    ParameterType.ANY: "a JSON value",
}


def _number_in_words(rules: Rules) -> str:
    words = ["a number"]
    if rules.min is not None and rules.max is not None:
        words.append(f"from {rules.min} to {rules.max}")
    elif rules.min is not None:
        words.append(f"of at least {rules.min}")
    elif rules.max is not None:
        words.append(f"of at most {rules.max}")
    if rules.precision is not None:
        words.append("without decimal places" if rules.precision == 0 else _places(rules.precision))
    return " ".join(words)


def _places(precision: int) -> str:
    return f"with at most {precision} decimal {'place' if precision == 1 else 'places'}"


def _secret(value: object) -> Iterator[_Finding]:
    if not isinstance(value, str):
        yield "a text", f"{kind_of(value)} (its value is not shown)", "give the secret as a text"
    elif not_json(value):
        yield "a text", "a text that UTF-8 cannot carry (it is not shown)", "give the secret as a text"


def _of_class(rules: Rules, value: object, wanted: type) -> Iterator[_Finding]:
    if not isinstance(value, wanted):
        expected = expected_of(rules)
        yield expected, brief(value), f"give {expected}"


def _string(rules: Rules, value: object) -> Iterator[_Finding]:
    yield from _of_class(rules, value, str)


def _boolean(rules: Rules, value: object) -> Iterator[_Finding]:
    yield from _of_class(rules, value, bool)


def _array(rules: Rules, value: object) -> Iterator[_Finding]:
    yield from _of_class(rules, value, list)


def _object(rules: Rules, value: object) -> Iterator[_Finding]:
    yield from _of_class(rules, value, dict)


def _number(rules: Rules, value: object) -> Iterator[_Finding]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        hint = "give it without quotes" if isinstance(value, str) else "give a number"
        yield expected_of(rules), brief(value), hint
        return
    if rules.min is not None and value < rules.min:
        yield expected_of(rules), brief(value), f"give at least {rules.min}"
    if rules.max is not None and value > rules.max:
        yield expected_of(rules), brief(value), f"give at most {rules.max}"
    # Rounding reads the decimal digits that the number is written with, as multipleOf does in the published schema.
    if rules.precision is not None and round(value, rules.precision) != value:
        yield expected_of(rules), brief(value), f"round it to {round(value, rules.precision)}"


def _select(rules: Rules, value: object) -> Iterator[_Finding]:
    if not rules.multiple:
        if not isinstance(value, str) or value not in rules.choices:
            yield expected_of(rules), brief(value), "choose one of the options"
    elif not isinstance(value, list):
        yield expected_of(rules), brief(value), "give a list of options"
    else:
        yield from _selected(rules, value)


def _selected(rules: Rules, chosen: list[object]) -> Iterator[_Finding]:
    seen: set[str] = set()
    for place, item in enumerate(chosen):
        if not isinstance(item, str) or item not in rules.choices:
            yield expected_of(rules), f"{brief(item)} as item {place}", "choose among the options"
        elif item in seen:
            yield expected_of(rules), f"{brief(item)} a second time as item {place}", "name each option once"
        else:
            seen.add(item)


def _shaped(rules: Rules, value: object) -> Iterator[_Finding]:
    for expected, found in _shape(rules).faults(value):
        yield expected, found, f"give {expected}"


def _shaped_list(rules: Rules, value: object) -> Iterator[_Finding]:
    if not isinstance(value, list):
        yield expected_of(rules), brief(value), "give a list"
        return
    shape = _shape(rules)
    for place, item in enumerate(value):
        for expected, found in shape.faults(item):
            yield expected, f"{found} in item {place}", f"give {expected}"


def _shape(rules: Rules) -> Shape:
    shape = shape_of(rules.type, rules.scope)
    assert shape is not None, "only types with a shape come here"
    return shape


_CHECKS: dict[ParameterType, Callable[[Rules, object], Iterator[_Finding]]] = {
    ParameterType.STRING: _string,
    ParameterType.NUMBER: _number,
    ParameterType.BOOLEAN: _boolean,
    ParameterType.SELECT: _select,
    ParameterType.FILE: _shaped,
    ParameterType.FILES: _shaped_list,
    ParameterType.MODEL_SELECTOR: _shaped,
    ParameterType.APP_SELECTOR: _shaped,
    ParameterType.TOOLS: _shaped_list,
    ParameterType.ARRAY: _array,
    ParameterType.OBJECT: _object,
    ParameterType.ANY: lambda _rules, _value: iter(()),
}

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.parameters import (
    AgentStrategyParameter,
    check_params,
    param_from_text,
    parameters_of,
    params_from_text,
)


def one(**form: Any) -> AgentStrategyParameter:
    [parameter] = parameters_of([{"name": "x", **form}])
    return parameter


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        ({"type": "string"}, " 5 = five ", " 5 = five "),
        ({"type": "string"}, "", ""),
        ({"type": "secret-input"}, "true", "true"),
        ({"type": "number"}, "5", 5),
        ({"type": "number"}, " -5 ", -5),
        ({"type": "number"}, "+.5", 0.5),
        ({"type": "number"}, "2.", 2.0),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "YES", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "boolean"}, "no", False),
        ({"type": "select", "options": ["1", "2"]}, "1", "1"),
        ({"type": "select", "options": ["a", "b"], "multiple": True}, "a, b", ["a", "b"]),
        ({"type": "select", "options": ["a,b", "c"], "multiple": True}, "a,b", ["a,b"]),
        ({"type": "select", "options": ["a", "b"], "multiple": True}, '["b"]', ["b"]),
        ({"type": "select", "options": ["a", "b"], "multiple": True}, "", []),
        ({"type": "array"}, '[1, "two"]', [1, "two"]),
        ({"type": "object"}, '{"a": null}', {"a": None}),
        ({"type": "any"}, '"text"', "text"),
        ({"type": "file"}, "https://e.org/a.pdf", {"url": "https://e.org/a.pdf"}),
        ({"type": "file"}, '{"id": "f-1"}', {"id": "f-1"}),
        ({"type": "files"}, "https://e.org/a.pdf", [{"url": "https://e.org/a.pdf"}]),
        ({"type": "files"}, '[{"id": "f-1"}]', [{"id": "f-1"}]),
        ({"type": "model-selector"}, "gpt", "gpt"),
        ({"type": "model-selector"}, '{"model": "gpt"}', {"model": "gpt"}),
        ({"type": "app-selector"}, "app-1", "app-1"),
        ({"type": "tools"}, "calculator,clock", ["calculator", "clock"]),
    ],
)
def test_text_becomes_a_value_of_the_declared_type(form: dict[str, Any], text: str, value: Any) -> None:
    parameter = one(**form)
    read = param_from_text(parameter, text)
    assert read == value
    assert type(read) is type(value)
    assert check_params([parameter], {"x": read}) == {"x": value}


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ({"type": "number"}, "five", "x: expected a number, found the text 'five'; write it like 3 or 0.5"),
        ({"type": "number"}, "", "expected a number, found the text ''"),
        ({"type": "number"}, "nan", "expected a number, found the text 'nan'"),
        ({"type": "number"}, "1_000", "expected a number, found the text '1_000'"),
        ({"type": "number"}, "٣", "expected a number, found"),
        ({"type": "number"}, "9" * 5000, "expected a number, found"),
        ({"type": "boolean"}, "1", "expected true, false, yes or no, found the text '1'; write one of these"),
        ({"type": "array"}, "a,b", "expected JSON for the type 'array', found the text 'a,b', which is not JSON"),
        ({"type": "object"}, "{'a': 1}", 'write it like {"key": "value"}'),
        ({"type": "any"}, "hello", 'write it like 5, true, "text" (in quotes)'),
        ({"type": "any"}, "NaN", "NaN is not in JSON"),
        ({"type": "any"}, "[" * 100_000, "it is nested too deep"),
        ({"type": "files"}, "[", "expected JSON for the type 'files'"),
    ],
)
def test_text_that_is_no_such_value_is_refused_with_how_to_write_it(
    form: dict[str, Any], text: str, message: str
) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        param_from_text(one(**form), text)
    assert message in caught.value.message
    assert len(caught.value.message) < 500


def test_pairs_are_read_and_the_value_may_hold_an_equals_sign() -> None:
    declared = parameters_of([{"name": "a", "type": "string"}, {"name": "n", "type": "number"}])
    assert params_from_text(declared, ["a=b=c", "n=2"]) == {"a": "b=c", "n": 2}
    assert params_from_text(declared, []) == {}


def test_all_faults_of_the_pairs_come_in_one_error() -> None:
    declared = parameters_of(
        [
            {"name": "limit", "type": "number"},
            {"name": "style", "type": "string"},
            {"name": "key", "type": "secret-input"},
        ]
    )
    with pytest.raises(InvalidParamsError) as caught:
        params_from_text(declared, ["limit=x", "style", "sytle=hunter2", "key=hunter2", "key=hunter3"])
    assert (
        caught.value.message
        == """\
the params do not fit what the strategy declares (4 faults):
- limit: expected a number, found the text 'x'; write it like 3 or 0.5
- style: expected NAME=VALUE, found no '='; write the value after a '='
- sytle: expected one of the parameters limit, style, key, found a name that is not declared; did you mean 'style'?
- key: expected each name once, found it a second time; give it once"""
    )


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values)
def test_any_json_text_comes_back_as_the_value_it_was_written_from(value: Any) -> None:
    assert param_from_text(one(type="any"), json.dumps(value)) == value


@given(st.integers(-(10**300), 10**300) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_from_its_text(value: float) -> None:
    assert param_from_text(one(type="number"), repr(value)) == value


@given(
    st.sampled_from(["number", "boolean", "select", "file", "files", "model-selector", "tools", "array", "any"]),
    st.text(),
)
def test_whatever_the_text_the_answer_is_a_value_or_an_invalid_params_error(kind: str, text: str) -> None:
    parameter = one(type=kind, **({"options": ["a"], "multiple": True} if kind == "select" else {}))
    try:
        param_from_text(parameter, text)
    except InvalidParamsError as error:
        error.message.encode()

import copy
from typing import Any

import pytest

from enfilade.tools.arguments.fixed import fixed_values
from enfilade.tools.arguments.reader import ArgumentReader, Arguments, ArgumentsError
from enfilade.tools.schemas.schema import tool_schema
from enfilade_sdk.errors import ErrorCode, InvalidParamsError

TAG = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "opts": {"type": "object"},
        "note": {"type": "string"},
        "count": {"type": "integer"},
    },
    "required": ["tags", "opts", "note", "count"],
}
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"type": "string", "enum": ["metric", "imperial"]},
        "max_rows": {"type": "integer"},
    },
    "required": ["city"],
}
ONE = {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}
TWO = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "tag": {"type": "string"}},
    "required": ["amount", "tag"],
}


def reader(schema: object, **fixed: Any) -> ArgumentReader:
    made = tool_schema(schema)
    return ArgumentReader("t", made, fixed_values("t", made, fixed))


def read(schema: object, given: object, **fixed: Any) -> dict[str, Any]:
    return reader(schema, **fixed).read(given).values


def refused(schema: object, given: object, **fixed: Any) -> str:
    with pytest.raises(ArgumentsError) as caught:
        reader(schema, **fixed).read(given)
    assert caught.value.code is ErrorCode.INVALID_PARAMS
    return caught.value.message


def one_of(part: Any, value: Any) -> Any:
    """What becomes of a value given for a required parameter with this schema."""
    schema = {"type": "object", "properties": {"p": part, "other": {}}, "required": ["p"]}
    return read(schema, {"p": value})["p"]


def test_texts_are_opened_only_where_no_text_is_allowed() -> None:
    given = (
        '{"tags": "[\\"urgent\\", \\"yard\\"]", "opts": "{\\"deep\\": true}", "note": "[\\"draft\\"]", "count": "3"}'
    )
    assert read(TAG, given) == {"tags": ["urgent", "yard"], "opts": {"deep": True}, "note": '["draft"]', "count": 3}


NULLABLE = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
PEOPLE: dict[str, Any] = {"type": "array", "items": {"type": "object", "properties": {"age": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("part", "value", "meant"),
    [
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, " -5 ", -5),
        ({"type": "integer"}, "+5", 5),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "integer"}, "12345678901234567890123", 12345678901234567890123),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "7", 7),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "null"}, "null", None),
        ({"type": "array"}, "[1, 2]", [1, 2]),
        ({"type": "array", "items": {"type": "string"}}, "['a', 'b']", ["a", "b"]),
        ({"type": "array", "items": {"type": "integer"}}, '["1", "2"]', [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, ["1", 2], [1, 2]),
        ({"type": "array", "items": {"type": "string"}}, "urgent", ["urgent"]),
        ({"type": "array", "items": {"type": "integer"}}, "5", [5]),
        ({"type": "array", "items": {"type": "integer"}}, 5, [5]),
        ({"type": "array", "items": {"type": "object"}}, {"a": 1}, [{"a": 1}]),
        ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}, '["1", 2]', [1, "2"]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "object"}, "{'a': True, 'b': None}", {"a": True, "b": None}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "1"}, {"a": 1}),
        (PEOPLE, '[{"age": "7"}]', [{"age": 7}]),
        ({"type": "string"}, 12345, "12345"),
        ({"type": "string"}, 1.5, "1.5"),
        ({"type": "string", "enum": ["metric", "imperial"]}, "Metric ", "metric"),
        ({"enum": [1, 2]}, "2", 2),
        ({"type": "string", "enum": ["1", "2"]}, 1, "1"),
        ({"const": "x"}, "X", "x"),
        (NULLABLE, "5", 5),
        (NULLABLE, "null", None),
        ({"type": ["integer", "boolean"]}, "true", True),
        ({"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}, "[1]", [1]),
        ({"allOf": [{"type": "integer"}, {"minimum": 1}]}, "3", 3),
    ],
)
def test_what_is_plainly_meant_is_understood(part: Any, value: Any, meant: Any) -> None:
    got = one_of(part, value)
    assert got == meant
    assert type(got) is type(meant)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"type": "string"}, "5"),
        ({"type": "string"}, "true"),
        ({"type": "string"}, '{"a": 1}'),
        ({"type": "string"}, ""),
        ({"type": ["integer", "string"]}, "5"),
        ({"anyOf": [{"type": "array"}, {"type": "string"}]}, "[1]"),
        ({}, "5"),
        ({}, "[1]"),
        ({"type": "number"}, 5),
        ({"type": "integer"}, 0),
        ({"type": "boolean"}, False),
        ({"type": "array"}, []),
        ({"type": "object"}, {}),
        (NULLABLE, None),
    ],
)
def test_a_value_that_fits_is_never_touched(part: Any, value: Any) -> None:
    got = one_of(part, value)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("part", "value", "expected"),
    [
        ({"type": "integer"}, "seven", 'expected an integer, got "seven"'),
        ({"type": "integer"}, "5.5", 'expected an integer, got "5.5"'),
        ({"type": "integer"}, 5.5, "expected an integer, got 5.5"),
        ({"type": "integer"}, True, "expected an integer, got true"),
        ({"type": "integer"}, "", 'expected an integer, got ""'),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 12, "expected an integer from 1 to 9, got 12"),
        ({"type": "number"}, "NaN", 'expected a number, got "NaN"'),
        ({"type": "boolean"}, "yes", 'expected true or false, got "yes"'),
        ({"type": "boolean"}, 1, "expected true or false, got 1"),
        ({"type": "array", "items": {"type": "string"}}, "a, b", "expected a list (each item: a string), got"),
        ({"type": "array", "items": {"type": "string"}}, "[a", "expected a list (each item: a string), got"),
        ({"type": "object"}, "x", 'expected an object, got "x"'),
        ({"type": "object"}, "[1]", 'expected an object, got "[1]"'),
        ({"type": "string"}, ["a"], 'expected a string, got ["a"]'),
        ({"type": "string"}, {"a": 1}, 'expected a string, got {"a":1}'),
        ({"type": "string"}, None, "expected a string, got null"),
        ({"enum": ["fit", "fill"]}, "stretch", 'expected one of "fit", "fill", got "stretch"'),
        ({"type": "string", "enum": ["a", "A"]}, "b", 'expected one of "a", "A", got "b"'),
        ({"type": "string", "minLength": 3}, "ab", "expected a string of at least 3 characters"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A1", "expected a string matching ^[a-z]+$"),
        (NULLABLE, "x", 'expected an integer or null, got "x"'),
        ({"type": "array", "minItems": 2}, [1], "expected a list of at least 2 items, got [1]"),
        ({"type": "array", "minItems": 2, "maxItems": 2}, [1], "expected a list of 2 items, got [1]"),
        ({"type": "array", "minItems": 1, "maxItems": 1}, [1, 2], "expected a list of 1 item, got [1,2]"),
    ],
)
def test_what_is_not_plain_goes_back_to_the_model(part: Any, value: Any, expected: str) -> None:
    schema = {"type": "object", "properties": {"p": part, "other": {}}, "required": ["p"]}
    message = refused(schema, {"p": value})
    assert f"- p: {expected}" in message


def test_the_complaint_says_all_at_once_and_which_fields_there_are_and_what_came() -> None:
    message = refused(TWO, '{"amount": "seven hundred"}')
    assert message.splitlines() == [
        "the arguments do not fit the tool t:",
        "- tag is missing; it is required: a string",
        '- amount: expected an integer, got "seven hundred"',
        "expected: a JSON object with the fields amount (an integer, required), tag (a string, required)",
        'got: "{\\"amount\\": \\"seven hundred\\"}"',
    ]


def test_a_place_deep_in_the_arguments_is_named() -> None:
    schema = {"type": "object", "properties": {"people": {**PEOPLE, "items": {**PEOPLE["items"], "required": ["age"]}}}}
    message = refused(schema, {"people": [{"age": 1}, {}, {"age": "x"}]})
    assert "- people[1].age is missing; it is required: an integer" in message
    assert '- people[2].age: expected an integer, got "x"' in message


def test_a_complaint_stays_short_whatever_came() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "integer"} for n in range(500)}}
    message = refused(schema, {f"p{n}": "x" * 10_000 for n in range(500)})
    assert len(message) < 6_000
    assert "and 490 more" in message


@pytest.mark.parametrize(
    "given", ["128*6", '"128*6"', '"\\"128*6\\""', '{"expression": "128*6"}', {"expression": "128*6"}]
)
def test_one_text_is_the_only_parameter(given: object) -> None:
    assert read(ONE, given) == {"expression": "128*6"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [("128", "128"), ("true", "true"), ("[draft] a note", "[draft] a note"), ('["a"]', '["a"]'), ("{x}", "{x}")],
)
def test_the_only_parameter_gets_the_text_itself_where_texts_are_allowed(text: str, meant: str) -> None:
    assert read(ONE, text) == {"expression": meant}


@pytest.mark.parametrize(
    ("part", "text", "meant"),
    [
        ({"type": "integer"}, "128", 128),
        ({"type": "integer"}, '"128"', 128),
        ({"type": "array", "items": {"type": "string"}}, '["a", "b"]', ["a", "b"]),
        ({"type": "array", "items": {"type": "string"}}, "urgent", ["urgent"]),
        ({"type": "boolean"}, "True", True),
    ],
)
def test_the_only_parameter_may_be_of_any_type(part: Any, text: str, meant: Any) -> None:
    assert read({"type": "object", "properties": {"p": part}}, text) == {"p": meant}


def test_a_parameter_the_user_fixed_is_not_counted_when_one_is_left() -> None:
    assert read(TWO, "lunch", amount=3) == {"amount": 3, "tag": "lunch"}


@pytest.mark.parametrize("given", ["mooring fee", '"mooring fee"'])
def test_a_bare_value_is_for_the_only_parameter_that_has_to_be_given(given: str) -> None:
    search = {"type": "object", "properties": {"limit": {"type": "integer"}, "query": {}}, "required": ["query"]}
    assert read(search, given) == {"query": "mooring fee"}
    assert "not a JSON object" in refused({**search, "required": []}, given)


@pytest.mark.parametrize("text", ["seven hundred", '"seven hundred"', "5", "[1, 2]", "true"])
def test_where_two_parameters_are_needed_a_bare_value_is_not_guessed_at(text: str) -> None:
    message = refused(TWO, text)
    assert "not a JSON object" in message
    assert "amount" in message
    assert "tag" in message


@pytest.mark.parametrize("given", ["", "  ", "{}", "null", {}, '"{}"', '""'])
def test_nothing_given_is_an_empty_object(given: object) -> None:
    assert read({}, given) == {}


@pytest.mark.parametrize(
    "given",
    [
        {"arguments": {"city": "Oban"}},
        '{"parameters": {"city": "Oban"}}',
        {"input": {"city": "Oban"}},
        {"name": "t", "arguments": {"city": "Oban"}},
    ],
)
def test_arguments_in_a_wrapper_are_taken_out_of_it(given: object) -> None:
    assert read(WEATHER, given) == {"city": "Oban"}


@pytest.mark.parametrize("given", [{"arguments": {"town": "Oban"}}, {"other": {"city": "Oban"}}, {"input": "Oban"}])
def test_what_is_no_wrapper_of_arguments_goes_back_to_the_model(given: object) -> None:
    assert "city is missing" in refused(WEATHER, given)


def test_a_parameter_that_is_named_like_a_wrapper_is_a_parameter() -> None:
    schema = {"type": "object", "properties": {"input": {"type": "object"}, "city": {"type": "string"}}}
    assert read(schema, {"input": {"city": "Oban"}}) == {"input": {"city": "Oban"}}


@pytest.mark.parametrize("text", ["None", "N/A", "no input", "0", "[]"])
def test_a_tool_without_parameters_can_be_called_with_any_word(text: str) -> None:
    assert reader({}).read(text) == Arguments({}, ("input",))


@pytest.mark.parametrize("text", ['{"expression": 128*6}', '{"expression": "128', '{"expression"'])
def test_a_broken_object_is_no_text_for_the_only_parameter(text: str) -> None:
    assert "not a JSON object (" in refused(ONE, text)


@pytest.mark.parametrize(
    "given", ["[" * 100_000, '{"a": NaN}', '{"a": 1', {"amount": object()}, {1: 2}, {"amount": float("nan")}, [1, 2], 7]
)
def test_what_is_no_json_at_all_is_a_fault_of_the_arguments(given: object) -> None:
    assert len(refused(TWO, given)) < 3_000


def test_json_in_a_json_string_is_opened() -> None:
    assert read(TWO, '"{\\"amount\\": 1, \\"tag\\": \\"x\\"}"') == {"amount": 1, "tag": "x"}


def test_fixed_parameters_win_and_are_not_offered_and_zero_is_a_value() -> None:
    made = reader(WEATHER, unit="metric", max_rows=0)
    assert list(made.offered["properties"]) == ["city"]
    got = made.read('{"city": "Oban", "unit": "imperial", "max_rows": 99}')
    assert got == Arguments({"city": "Oban", "unit": "metric", "max_rows": 0}, ("unit", "max_rows"))


@pytest.mark.parametrize("value", [0, False, "", [], {}])
def test_empty_values_are_values_to_fix(value: Any) -> None:
    schema = {"type": "object", "properties": {"p": {}, "q": {"type": "string"}}}
    assert read(schema, {"q": "x", "p": 1}, p=value) == {"q": "x", "p": value}


def test_a_fixed_value_is_read_as_the_tools_type() -> None:
    assert read(WEATHER, "Oban", unit="Metric", max_rows="7") == {"city": "Oban", "unit": "metric", "max_rows": 7}


def test_a_fixed_required_parameter_is_not_missing() -> None:
    assert read(WEATHER, {}, city="Oban") == {"city": "Oban"}


def test_fixed_values_are_the_callers_own() -> None:
    fixed = {"p": {"a": [1]}}
    made = reader({"type": "object", "properties": {"p": {"type": "object"}, "q": {}}}, **fixed)
    made.read({}).values["p"]["a"].append(2)  # what a tool does with its arguments is its own business
    assert fixed == {"p": {"a": [1]}}
    assert made.read({}).values == {"p": {"a": [1]}}


def test_all_faults_of_fixed_parameters_come_at_once() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        reader(WEATHER, untis="metric", unit="kelvin", max_rows="many")
    message = caught.value.message
    assert "it has no parameter 'untis'. Did you mean 'unit'?" in message
    assert 'parameter \'unit\': expected one of "metric", "imperial", got "kelvin"' in message
    assert "parameter 'max_rows': expected an integer, got \"many\"" in message


def test_a_secret_that_does_not_fit_is_not_shown() -> None:
    schema = [{"name": "key", "type": "string", "format": "password", "form": "form"}]
    with pytest.raises(InvalidParamsError) as caught:
        reader(schema, key=["hunter2"])
    assert "hunter2" not in caught.value.message


def test_what_only_the_user_can_give_has_to_be_given() -> None:
    schema = [{"name": "q", "type": "string"}, {"name": "image", "type": "file", "required": True}]
    with pytest.raises(InvalidParamsError, match="'image' \\(file\\) is required and no model can give it"):
        reader(schema)
    assert read(schema, "x", image={"url": "https://e.example/a.png"})["image"] == {"url": "https://e.example/a.png"}


def test_what_the_user_is_to_give_is_dropped_when_the_model_gives_it() -> None:
    schema = [{"name": "q", "type": "string"}, {"name": "key", "type": "secret-input"}]
    assert reader(schema).read({"q": "x", "key": "stolen"}) == Arguments({"q": "x"}, ("key",))


def test_defaults_of_host_level_declarations_are_filled_in_and_those_of_json_schema_are_the_tools_own() -> None:
    declared = [{"name": "q", "type": "string"}, {"name": "n", "type": "number", "default": 3}]
    assert read(declared, {"q": "x"}) == {"q": "x", "n": 3}
    assert read({"type": "object", "properties": {"q": {}, "n": {"type": "number", "default": 3}}}, {"q": "x"}) == {
        "q": "x"
    }


def test_null_for_an_optional_parameter_means_not_given() -> None:
    assert read(WEATHER, {"city": "Oban", "unit": None, "max_rows": None}) == {"city": "Oban"}


def test_an_unknown_parameter_is_passed_on_where_the_schema_is_open() -> None:
    assert read(WEATHER, {"city": "Oban", "wind": True}) == {"city": "Oban", "wind": True}


def test_an_unknown_parameter_is_dropped_where_the_schema_is_closed() -> None:
    closed = {**WEATHER, "additionalProperties": False}
    assert reader(closed).read({"city": "Oban", "wind": True}) == Arguments({"city": "Oban"}, ("wind",))


def test_a_slip_in_a_parameters_name_goes_back_to_the_model() -> None:
    closed = {**WEATHER, "additionalProperties": False}
    message = refused(closed, {"city": "Oban", "maxrows": 5})
    assert "- maxrows is not a parameter. Did you mean 'max_rows'?" in message


def test_the_arguments_given_are_never_changed() -> None:
    given = {"tags": "[1]", "opts": '{"a": "b"}', "note": "n", "count": "3", "extra": {"deep": ["x"]}}
    before = copy.deepcopy(given)
    values = read(TAG, given)
    values["extra"]["deep"].append("y")
    assert given == before


def test_texts_that_no_utf8_can_hold_are_made_whole() -> None:
    assert read(ONE, '{"expression": "a\\ud800b"}') == {"expression": "a\ufffdb"}

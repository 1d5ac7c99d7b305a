import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade_sdk.errors import ErrorCode, InvalidParamsError
from enfilade_sdk.parameters import AgentStrategyParameter, check_params, masked, parameters_of


def one(**form: Any) -> list[AgentStrategyParameter]:
    return parameters_of([{"name": "x", **form}])


def refused(declared: list[AgentStrategyParameter], params: Any) -> InvalidParamsError:
    with pytest.raises(InvalidParamsError) as caught:
        check_params(declared, params)
    return caught.value


@pytest.mark.parametrize(
    ("kind", "empty"), [("string", ""), ("number", 0), ("boolean", False), ("array", []), ("object", {}), ("any", "")]
)
def test_an_empty_value_is_a_value_and_no_default_takes_its_place(kind: str, empty: Any) -> None:
    default = {"string": "d", "number": 7, "boolean": True, "array": [1], "object": {"a": 1}, "any": "d"}[kind]
    result = check_params(one(type=kind, required=True, default=default), {"x": empty})
    assert result == {"x": empty}
    assert type(result["x"]) is type(empty)


@pytest.mark.parametrize("params", [{}, {"x": None}, None])
def test_what_is_missing_gets_its_default_and_none_counts_as_missing(params: dict[str, Any] | None) -> None:
    assert check_params(one(type="number", default=0), params) == {"x": 0}
    assert check_params(one(type="number", default=0, required=True), params) == {"x": 0}
    assert check_params(one(type="number"), params) == {}


@pytest.mark.parametrize("params", [{}, {"x": None}, None])
def test_what_is_missing_and_required_is_refused(params: dict[str, Any] | None) -> None:
    error = refused(one(type="number", required=True, min=1), params)
    assert error.message == (
        "the params do not fit what the strategy declares: x: expected a value (a number of at least 1), "
        "found nothing; give one; this parameter is required"
    )


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ({"type": "string"}, "text"),
        ({"type": "number"}, 5),
        ({"type": "number"}, 5.5),
        ({"type": "number", "min": 0, "max": 0}, 0),
        ({"type": "number", "precision": 1}, 0.3),
        ({"type": "number", "precision": 0}, 10**30),
        ({"type": "number", "precision": 0}, 5.0),
        ({"type": "boolean"}, True),
        ({"type": "select", "options": ["a", "b"]}, "b"),
        ({"type": "select", "options": ["a", "b"], "multiple": True}, ["b", "a"]),
        ({"type": "select", "options": ["a", "b"], "multiple": True, "required": True}, []),
        ({"type": "select", "options": [""]}, ""),
        ({"type": "secret-input"}, ""),
        ({"type": "file"}, {"url": "https://example.org/a.pdf"}),
        ({"type": "file"}, {"url": "data:text/plain,hi", "mime_type": "", "filename": "", "size": 3}),
        ({"type": "file"}, {"id": "f-1"}),
        ({"type": "file", "scope": "image&document"}, {"url": "http://e.org/a", "mime_type": "application/pdf"}),
        ({"type": "file", "scope": "all&image"}, {"url": "http://e.org/a", "mime_type": "application/pdf"}),
        ({"type": "files"}, []),
        ({"type": "model-selector"}, "gpt"),
        ({"type": "model-selector", "scope": "tool-call&llm"}, {"model": "m", "provider": "p", "model_type": "llm"}),
        ({"type": "model-selector", "scope": "vision"}, {"model": "m", "model_type": "anything"}),
        ({"type": "app-selector", "scope": "chat"}, {"app_id": "a", "mode": "agent-chat", "inputs": {}}),
        ({"type": "tools"}, ["a", {"name": "b"}, {"tool_name": "c", "provider_name": "p"}]),
        ({"type": "array"}, [1, "two", None, [{}]]),
        ({"type": "object"}, {"a": {"b": [None]}}),
        ({"type": "any"}, [1.5, {"a": None}]),
    ],
)
def test_a_value_that_keeps_the_rules_passes_as_it_is(form: dict[str, Any], value: Any) -> None:
    result = check_params(one(**form), {"x": value})["x"]
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("form", "value", "expected", "found"),
    [
        ({"type": "string"}, 5, "a text", "the number 5"),
        ({"type": "string"}, "\ud800", "a text", "a text with half a surrogate pair, which UTF-8 cannot carry"),
        ({"type": "number"}, "5", "a number", "the text '5'"),
        ({"type": "number"}, True, "a number", "the boolean true"),
        ({"type": "number"}, float("nan"), "a number", "the number nan, which JSON cannot carry"),
        ({"type": "number"}, float("inf"), "a number", "the number inf, which JSON cannot carry"),
        ({"type": "number", "min": 1}, 0.5, "a number of at least 1", "the number 0.5"),
        ({"type": "number", "max": 1}, 2, "a number of at most 1", "the number 2"),
        ({"type": "number", "max": 1}, 10**300, "a number of at most 1", "a number of more than 20 digits"),
        ({"type": "number"}, 10**400, "a number", "an integer of more digits than JSON readers take"),
        ({"type": "number", "precision": 0}, 1.5, "a number without decimal places", "the number 1.5"),
        ({"type": "number", "precision": 1}, 0.25, "a number with at most 1 decimal place", "the number 0.25"),
        ({"type": "boolean"}, 1, "true or false", "the number 1"),
        ({"type": "boolean"}, "true", "true or false", "the text 'true'"),
        ({"type": "select", "options": ["a", "b"]}, "c", "one of 'a', 'b'", "the text 'c'"),
        ({"type": "select", "options": ["a", "b"]}, ["a"], "one of 'a', 'b'", "a list of 1"),
        (
            {"type": "select", "options": ["a", "b"], "multiple": True},
            ["a", "a"],
            "a list of different options among 'a', 'b'",
            "the text 'a' a second time as item 1",
        ),
        (
            {"type": "select", "options": ["a"], "multiple": True},
            ["a", 3],
            "a list of different options among 'a'",
            "the number 3 as item 1",
        ),
        ({"type": "file"}, "https://e.org", "a file: an object with 'url' or 'id'", "the text 'https://e.org'"),
        ({"type": "file"}, {"name": "x"}, "a file: an object with 'url' or 'id'", "an object without 'url' and 'id'"),
        (
            {"type": "file"},
            {"url": "file:///etc/passwd"},
            "under 'url' a text that begins with 'https://' or 'http://' or 'data:'",
            "the text 'file:///etc/passwd'",
        ),
        (
            {"type": "file", "scope": "image"},
            {"url": "https://e.org/a", "mime_type": "text/html"},
            "under 'mime_type' a text that begins with 'image/'",
            "the text 'text/html'",
        ),
        (
            {"type": "file", "scope": "image"},
            {"url": "data:text/html,x"},
            "under 'url' a text that begins with 'https://' or 'http://' or 'data:image/'",
            "the text 'data:text/html,x'",
        ),
        (
            {"type": "files"},
            {"url": "https://e.org"},
            "a list, each item a file: an object with 'url' or 'id'",
            "an object",
        ),
        ({"type": "files"}, [{"id": ""}], "under 'id' a text that is not empty", "the text '' in item 0"),
        ({"type": "model-selector"}, "", "a model: a name, or an object with 'model'", "an empty text"),
        (
            {"type": "model-selector"},
            {"provider": "p"},
            "a model: a name, or an object with",
            "an object without 'model'",
        ),
        (
            {"type": "model-selector"},
            {"model": "m", "completion_params": 3},
            "under 'completion_params' an object",
            "the n",
        ),
        (
            {"type": "model-selector", "scope": "llm"},
            {"model": "m", "model_type": "rerank"},
            "under 'model_type' one of 'llm'",
            "the text 'rerank'",
        ),
        (
            {"type": "app-selector", "scope": "chat"},
            {"app_id": "a", "mode": "workflow"},
            "under 'mode' one of 'chat'",
            "the",
        ),
        ({"type": "tools"}, "calculator", "a list, each item a tool: a name, or an object", "the text 'calculator'"),
        ({"type": "tools"}, ["a", 5], "a tool: a name, or an object with", "the number 5 in item 1"),
        (
            {"type": "tools", "scope": "builtin"},
            [{"name": "a", "provider_type": "mcp"}],
            "under 'provider_type' one of 'builtin'",
            "the text 'mcp' in item 0",
        ),
        ({"type": "array"}, (1, 2), "a list", "a value of the Python type tuple, which JSON cannot carry"),
        ({"type": "array"}, {"a": 1}, "a list", "an object with 1 key"),
        ({"type": "object"}, [], "an object", "a list of 0"),
        ({"type": "object"}, {1: 2}, "an object", "an object with a number for a key, where JSON has only texts"),
        ({"type": "any"}, {"a": [{1, 2}]}, "a JSON value", "a value of the Python type set, which JSON cannot carry"),
        ({"type": "any"}, b"bytes", "a JSON value", "a value of the Python type bytes, which JSON cannot carry"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused_with_what_was_expected_and_found(
    form: dict[str, Any], value: Any, expected: str, found: str
) -> None:
    [fault] = refused(one(**form), {"x": value}).details["faults"]
    assert fault["parameter"] == "x"
    assert fault["expected"].startswith(expected)
    assert fault["found"].startswith(found)
    assert fault["remedy"]


def test_a_value_that_holds_itself_is_refused_and_not_followed_for_ever() -> None:
    knot: list[Any] = []
    knot.append(knot)
    [fault] = refused(one(type="array"), {"x": knot}).details["faults"]
    assert fault["found"] == "a nesting of more than 100 levels"


def test_all_faults_come_in_one_error_in_its_text_and_in_its_details() -> None:
    declared = parameters_of(
        [
            {"name": "heat", "type": "number", "max": 2, "precision": 1},
            {"name": "style", "type": "select", "options": ["brief", "full"]},
            {"name": "query", "type": "string", "required": True},
        ]
    )
    error = refused(declared, {"heat": 3.14, "style": "long", "qeury": "x", "zzz": 1})
    assert error.code is ErrorCode.INVALID_PARAMS
    assert (
        error.message
        == """\
the params do not fit what the strategy declares (6 faults):
- qeury: expected one of the parameters heat, style, query, found a name that is not declared; did you mean 'query'?
- zzz: expected one of the parameters heat, style, query, found a name that is not declared; leave it out
- heat: expected a number of at most 2 with at most 1 decimal place, found the number 3.14; give at most 2
- heat: expected a number of at most 2 with at most 1 decimal place, found the number 3.14; round it to 3.1
- style: expected one of 'brief', 'full', found the text 'long'; choose one of the options
- query: expected a value (a text), found nothing; give one; this parameter is required"""
    )
    assert [fault["parameter"] for fault in error.details["faults"]] == [
        "qeury",
        "zzz",
        "heat",
        "heat",
        "style",
        "query",
    ]
    assert set(error.details["faults"][0]) == {"parameter", "expected", "found", "remedy"}


def test_a_strategy_without_parameters_refuses_any_by_saying_so() -> None:
    error = refused([], {"x": 1})
    assert "expected no parameters (this strategy declares none)" in error.message


@pytest.mark.parametrize("wanted", [["api_key"], ["API-KEY"], ["apikey"]])
def test_near_matches_look_past_case_and_dashes(wanted: list[str]) -> None:
    declared = parameters_of([{"name": "api_key", "type": "string"}])
    if wanted == ["api_key"]:
        assert check_params(declared, {"api_key": "k"}) == {"api_key": "k"}
    else:
        assert "did you mean 'api_key'?" in refused(declared, {wanted[0]: "k"}).message


def test_a_name_from_outside_cannot_drive_the_terminal_or_swell_the_message() -> None:
    error = refused(one(type="string"), {"\x1b[31mred": 1, "y" * 10_000: 2, 5: 3})
    assert "\x1b" not in error.message
    assert len(error.message) < 1000


@pytest.mark.parametrize("params", ["x=1", 5, [("x", 1)]])
def test_params_that_are_no_object_are_refused(params: Any) -> None:
    assert "params: expected an object of values by parameter name" in refused(one(type="string"), params).message


@pytest.mark.parametrize("value", [12345678, ["hunter2"], {"k": "hunter2"}, "hunter2\ud800", b"hunter2"])
def test_the_value_of_a_secret_is_in_no_message(value: Any) -> None:
    error = refused(one(type="secret-input"), {"x": value})
    shown = error.message + repr(error.details)
    assert "hunter2" not in shown
    assert "12345678" not in shown


def test_a_secret_under_a_wrong_name_is_in_no_message_either() -> None:
    declared = parameters_of([{"name": "api_key", "type": "secret-input", "required": True}])
    error = refused(declared, {"api_kye": "hunter2"})
    assert "hunter2" not in error.message + repr(error.details)
    assert "did you mean 'api_key'?" in error.message


def test_the_result_shares_nothing_with_what_was_given_or_declared() -> None:
    default = {"list": [1]}
    declared = parameters_of([{"name": "a", "type": "object", "default": default}, {"name": "b", "type": "array"}])
    given_params: dict[str, Any] = {"b": [{"deep": []}]}
    before = copy.deepcopy(given_params)
    first = check_params(declared, given_params)
    first["a"]["list"].append(2)
    first["b"][0]["deep"].append(3)
    assert given_params == before
    assert check_params(declared, {})["a"] == {"list": [1]}
    assert default == {"list": [1]}


def test_the_result_is_in_the_order_of_the_declarations() -> None:
    declared = parameters_of([{"name": name, "type": "any"} for name in ("c", "a", "b")])
    assert list(check_params(declared, {"a": 1, "b": 2, "c": 3})) == ["c", "a", "b"]


def test_masked_hides_secrets_and_undeclared_names_and_leaves_the_rest() -> None:
    declared = parameters_of([{"name": "key", "type": "secret-input"}, {"name": "x", "type": "any"}])
    params = {"key": "hunter2", "x": {"a": 1}, "kye": "hunter2"}
    assert masked(declared, params) == {"key": "***", "x": {"a": 1}, "kye": "***"}
    assert params["key"] == "hunter2"
    assert masked(declared, {"key": None}) == {"key": None}
    assert masked(declared, {"key": ""}) == {"key": "***"}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
    max_leaves=8,
)
ALL_TYPES = parameters_of(
    [
        {"name": kind.replace("-", "_").replace("[", "_").replace("]", ""), "type": kind}
        | ({"options": ["a", "b"]} if kind == "select" else {})
        for kind in (
            *("string", "number", "boolean", "select", "secret-input", "file", "files"),
            *("model-selector", "app-selector", "array[tools]", "array", "object", "any"),
        )
    ]
)


@given(st.dictionaries(st.sampled_from([p.name for p in ALL_TYPES]) | st.text(), anything))
def test_whatever_is_given_the_answer_is_params_or_one_error_and_the_input_is_untouched(params: dict[str, Any]) -> None:
    before = copy.deepcopy(params)
    try:
        result = check_params(ALL_TYPES, params)
    except InvalidParamsError as error:
        assert error.details["faults"]
        error.message.encode()
    else:
        assert result == {name: value for name, value in params.items() if value is not None}
    assert repr(params) == repr(before)

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.parameters import (
    AgentStrategyParameter,
    ParameterDeclarationError,
    check_params,
    parameters_of,
    parameters_schema,
)


def test_the_schema_says_everything_a_form_needs() -> None:
    declared = parameters_of(
        [
            {
                "name": "temperature",
                "label": {"en_US": "Temperature", "de": "Temperatur"},
                "help": "How freely the model chooses",
                "type": "number",
                "default": 0.5,
                "min": 0,
                "max": 2,
                "precision": 1,
            },
            {"name": "key", "type": "secret-input", "required": True},
            {"name": "style", "type": "select", "options": ["a", {"value": "b", "label": "Bee"}], "multiple": True},
            {
                "name": "prompt",
                "type": "string",
                "required": True,
                "default": "Hi",
                "auto_generate": {"type": "prompt_instruction"},
                "template": {"enabled": True},
            },
            {"name": "model", "type": "model-selector", "scope": "llm", "default": "m"},
            {"name": "whatever", "type": "any"},
        ]
    )
    schema = parameters_schema(declared, language="de")
    model = schema["properties"].pop("model")
    assert schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "temperature": {
                "title": "Temperatur",
                "description": "How freely the model chooses",
                "type": "number",
                "minimum": 0,
                "maximum": 2,
                "multipleOf": 0.1,
                "default": 0.5,
            },
            "key": {
                "title": "key",
                "type": "string",
                "format": "password",
                "writeOnly": True,
                "x-enfilade-type": "secret-input",
            },
            "style": {
                "title": "style",
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "uniqueItems": True,
                "x-enfilade-labels": {"b": "Bee"},
            },
            "prompt": {
                "title": "prompt",
                "type": "string",
                "default": "Hi",
                "x-enfilade-auto-generate": "prompt_instruction",
                "x-enfilade-template": True,
            },
            "whatever": {"title": "whatever"},
        },
        "required": ["key"],
        "additionalProperties": False,
    }
    assert model["default"] == "m"
    assert model["x-enfilade-type"] == "model-selector"
    assert model["x-enfilade-scope"] == "llm"


def test_no_parameters_make_a_schema_that_takes_only_the_empty_object() -> None:
    validator = jsonschema_rs.validator_for(parameters_schema([]))
    assert validator.is_valid({})
    assert not validator.is_valid({"x": 1})


def test_a_default_in_the_schema_is_a_copy() -> None:
    declared = parameters_of([{"name": "x", "type": "array", "default": [1]}])
    parameters_schema(declared)["properties"]["x"]["default"].append(2)
    assert parameters_schema(declared)["properties"]["x"]["default"] == [1]


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = (
    st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(-1000, 1000, places=2).map(float)
)
WORDS = st.sampled_from(
    [
        *("", "a", "b", "ä\n", "llm", "rerank", "chat", "workflow", "builtin", "mcp", "image/png", "text/plain\n"),
        *("https://e.org/a", "http://", "data:image/png;base64,AA", "data:text/plain,x", "ftp://e.org", "xhttps://e"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
KEYS = {
    "file": ("url", "id", "mime_type", "filename", "other"),
    "model-selector": ("model", "provider", "model_type", "mode", "completion_params"),
    "app-selector": ("app_id", "mode", "inputs"),
    "array[tools]": ("name", "tool_name", "tool", "type", "provider_type"),
}


def shaped(kind: str) -> st.SearchStrategy[Any]:
    """Objects that are nearly, or exactly, what a host-level type takes."""
    value = WORDS | WORDS | JSON
    return WORDS | st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS[kind], value))


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "number": NUMBERS,
    "select": WORDS | st.lists(WORDS, max_size=3),
    "file": shaped("file"),
    "files": st.lists(shaped("file"), max_size=2),
    "model-selector": shaped("model-selector"),
    "app-selector": shaped("app-selector"),
    "array[tools]": st.lists(shaped("array[tools]"), max_size=2),
}
SCOPES = {
    "file": ["image", "image&document", "all", "audio&video"],
    "files": ["image", "document"],
    "model-selector": ["llm", "llm&rerank", "vision", "tool-call&llm", "all"],
    "app-selector": ["chat", "workflow&completion", "all"],
    "array[tools]": ["builtin", "custom&mcp", "all"],
}
PLAIN = ("string", "boolean", "secret-input", "array", "object", "any")


def declaration(draw: st.DrawFn, kind: str) -> AgentStrategyParameter:
    form: dict[str, Any] = {"name": "p", "type": kind, "required": draw(st.booleans())}
    if kind == "number":
        least, greatest = sorted(draw(st.tuples(NUMBERS, NUMBERS)))
        form |= {"min": least, "max": greatest, "precision": draw(st.none() | st.integers(0, 15))}
        form = {key: value for key, value in form.items() if key in {"name", "type"} or draw(st.booleans())}
    elif kind == "select":
        form |= {"options": draw(st.lists(WORDS, min_size=1, max_size=4, unique=True)), "multiple": draw(st.booleans())}
    elif kind in SCOPES:
        form["scope"] = draw(st.none() | st.sampled_from(SCOPES[kind]))
    try:
        return AgentStrategyParameter.model_validate(form)
    except ParameterDeclarationError:  # bounds that leave no number with so few places
        return AgentStrategyParameter.model_validate(form | {"precision": None})


@st.composite
def declared_and_value(draw: st.DrawFn, kind: str) -> tuple[AgentStrategyParameter, Any]:
    parameter = declaration(draw, kind)
    values = VALUES.get(kind, JSON) | JSON
    bounds = [bound for bound in (parameter.min, parameter.max) if bound is not None]
    return parameter, draw(values | st.sampled_from(bounds) if bounds else values)


def accepted(declared: list[AgentStrategyParameter], params: dict[str, Any]) -> bool:
    try:
        check_params(declared, params)
    except InvalidParamsError:
        return False
    return True


KINDS = [*PLAIN, "number", "select", *SCOPES]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_the_published_schema_takes_exactly_what_the_check_takes(kind: str, data: st.DataObject) -> None:
    parameter, value = data.draw(declared_and_value(kind))
    validator = jsonschema_rs.validator_for(parameters_schema([parameter]))
    given_params = {} if value is None else {"p": value}
    assert validator.is_valid(given_params) == accepted([parameter], {"p": value})


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"url": "https://e.org/a", "mime_type": ""}, True),
        ({"url": "https://e.org/a", "mime_type": "image/png"}, True),
        ({"url": "https://e.org/a", "mime_type": "text/image/"}, False),
        ({"url": "xhttps://e.org/a"}, False),
        ({"url": "\nhttps://e.org/a"}, False),
        ({"url": "data:image/png,x", "id": "f"}, True),
        ({"url": "data:text/plain,image/", "id": "f"}, False),
        ({"id": "f", "url": ""}, False),
    ],
)
def test_schema_and_check_agree_on_what_begins_a_file(value: dict[str, Any], fits: bool) -> None:
    declared = parameters_of([{"name": "p", "type": "file", "scope": "image"}])
    assert jsonschema_rs.validator_for(parameters_schema(declared)).is_valid({"p": value}) is fits
    assert accepted(declared, {"p": value}) is fits


@given(st.dictionaries(st.sampled_from(["p", "q", "r"]), st.text(max_size=3)), st.booleans(), st.booleans())
def test_schema_and_check_agree_on_what_is_required_and_what_is_not_declared(
    params: dict[str, Any], required: bool, has_default: bool
) -> None:
    form = {"name": "p", "type": "string", "required": required} | ({"default": "d"} if has_default else {})
    declared = parameters_of([form, {"name": "q", "type": "string"}])
    validator = jsonschema_rs.validator_for(parameters_schema(declared))
    assert validator.is_valid(params) == accepted(declared, params)


@pytest.mark.parametrize("precision", range(16))
@given(value=NUMBERS, cut=st.integers(0, 16))
def test_precision_and_its_published_multiple_agree_on_every_number(precision: int, value: float, cut: int) -> None:
    declared = parameters_of([{"name": "p", "type": "number", "precision": precision}])
    validator = jsonschema_rs.validator_for(parameters_schema(declared))
    for number in (value, round(value, cut)):
        assert validator.is_valid({"p": number}) == accepted(declared, {"p": number})


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_schema_is_a_valid_one_and_survives_json(kind: str, data: st.DataObject) -> None:
    parameter, _ = data.draw(declared_and_value(kind))
    schema = parameters_schema([parameter])
    assert jsonschema_rs.meta.is_valid(schema)
    assert json.loads(json.dumps(schema)) == schema

"""Tools' schemas, whatever dialect they are written in, as every model endpoint takes them."""

import copy
from typing import Any

import pytest

from enfilade.tools.schemas.schema import SchemaError, tool_schema
from tests.tools.declared import RECURSIVE, accepts, offered, property_of

EMPTY = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    "declared",
    [
        None,
        {},
        [],
        True,
        {"type": "object"},
        {"type": "object", "properties": None},
        {"type": "object", "properties": {}, "required": None},
        {"type": "object", "properties": {}, "required": []},
        {"type": None, "properties": None, "required": None, "description": None},
        {"type": ["object", "null"]},
        {"type": "OBJECT"},
        {"type": "dict"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
        {"type": "object", "properties": {}, "$defs": {}},
    ],
)
def test_a_tool_without_inputs_is_an_object_without_properties(declared: object) -> None:
    assert offered(declared) == EMPTY
    assert accepts(tool_schema(declared), {})


@pytest.mark.parametrize(
    "declared", [RECURSIVE, {"properties": {"a": {"type": ["string", "null"], "enum": ["x", None]}}}]
)
def test_the_callers_dict_is_never_changed(declared: dict[str, Any]) -> None:
    before = copy.deepcopy(declared)
    schema = tool_schema(declared)
    schema.offered["properties"]["new"] = {}
    schema.without({"q", "a"})
    assert declared == before


@pytest.mark.parametrize(
    ("declared", "standard"),
    [
        ({"type": ["string"]}, {"type": "string"}),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (
            {"type": ["integer", "string"], "minimum": 3, "maxLength": 5, "description": "d"},
            {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "string", "maxLength": 5}], "description": "d"},
        ),
        (
            {"type": ["string", "null"], "enum": ["a", None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        ({"type": "integer", "nullable": True}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "int"}, {"type": "integer"}),
        ({"type": "float"}, {"type": "number"}),
        ({"type": "bool"}, {"type": "boolean"}),
        ({"type": "list[str]"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "array[number]"}, {"type": "array", "items": {"type": "number"}}),
        ({"type": "string | null"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "Optional[int]"}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"type": "datetime"}, {"type": "string", "format": "date-time"}),
        ({"type": "any", "description": "d"}, {"description": "d"}),
        ("string", {"type": "string"}),
        (True, {}),
        (None, {}),
        ({}, {}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}),
        ({"type": "string", "enum": []}, {"type": "string"}),
        ({"type": "integer", "enum": ["1", "2"]}, {"enum": ["1", "2"]}),
        ({"type": "string", "description": None, "title": None, "enum": None}, {"type": "string"}),
        ({"type": "string", "description": {"en_US": "Text", "de": "Wort"}}, {"type": "string", "description": "Text"}),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, {"type": "number", "exclusiveMinimum": 1}),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": False}, {"type": "number", "minimum": 1}),
        ({"type": "string", "minLength": "3"}, {"type": "string", "minLength": 3}),
        (
            {"type": "array", "items": [{"type": "int"}, {"type": "str"}], "additionalItems": False},
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        ),
        ({"type": "string", "x-order": 1, "example": "e", "xml": {}, "$comment": "c"}, {"type": "string"}),
        ({"type": "string", "pattern": "(?<="}, {"type": "string"}),
        ({"type": "number", "multipleOf": 0}, {"type": "number"}),
        ({"type": "number", "maximum": float("inf")}, {"type": "number"}),
        ({"allOf": [{"type": "string"}], "description": "d"}, {"type": "string", "description": "d"}),
        (
            {"allOf": [{"type": "integer", "minimum": 1}, {"type": "number", "minimum": 5, "maximum": 9}]},
            {"type": "integer", "minimum": 5, "maximum": 9},
        ),
        (
            {"allOf": [{"enum": ["a", "b", "c"]}, {"enum": ["b", "c", "d"]}], "description": "d"},
            {"type": "string", "enum": ["b", "c"], "description": "d"},
        ),
        (
            {"allOf": [{"type": "array", "items": {"minimum": 1}}, {"items": {"maximum": 3}, "uniqueItems": True}]},
            {"type": "array", "items": {"minimum": 1, "maximum": 3}, "uniqueItems": True},
        ),
        (
            {"allOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]},
            {"allOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]},
        ),
    ],
)
def test_spellings_of_other_drafts_and_dialects_become_standard(declared: Any, standard: Any) -> None:
    assert property_of(declared) == standard


def test_a_property_that_nothing_fits_is_left_out() -> None:
    schema = offered({"type": "object", "properties": {"a": False, "b": True}, "required": ["a", "b"]})
    assert schema == {"type": "object", "properties": {"b": {}}, "required": ["b"]}


def test_a_property_required_at_itself_is_required_at_its_object() -> None:
    schema = offered(
        {"type": "object", "properties": {"a": {"type": "string", "required": True}, "b": {"type": "string"}}}
    )
    assert schema["required"] == ["a"]


def test_a_required_property_that_is_not_declared_is_offered() -> None:
    assert offered({"type": "object", "required": ["a"]})["properties"] == {"a": {}}


def test_parameters_without_the_shell_of_an_object_are_understood() -> None:
    assert offered({"city": {"type": "string", "required": True}, "type": {"type": "string"}}) == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "type": {"type": "string"}},
        "required": ["city"],
    }
    assert offered({"city": "string", "days": "int"})["properties"] == {
        "city": {"type": "string"},
        "days": {"type": "integer"},
    }


def test_properties_named_like_keywords_stay_properties() -> None:
    names = [
        "type",
        "properties",
        "required",
        "$ref",
        "items",
        "enum",
        "default",
        "description",
        "definitions",
        "const",
    ]
    properties = {name: {"type": "string", "default": "x"} for name in names}
    assert offered({"type": "object", "properties": properties, "required": ["$ref"]})["properties"] == properties


RESIZE: list[dict[str, Any]] = [
    {"name": "mode", "type": "select", "required": True, "options": ["fit", "fill"]},
    {"name": "width", "type": "number", "min": 1, "max": 4000},
    {"name": "secret", "type": "secret-input"},
    {"name": "image", "type": "file"},
    {"name": "dry_run", "type": "boolean", "default": False},
]


def test_host_level_types_become_standard_ones_and_what_no_model_can_give_is_left_out() -> None:
    schema = tool_schema(RESIZE)
    assert schema.offered == {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["fit", "fill"]},
            "width": {"type": "number", "minimum": 1, "maximum": 4000},
            "dry_run": {"type": "boolean", "default": False},
        },
        "required": ["mode"],
    }
    assert {name: (p.type, p.secret) for name, p in schema.user.items()} == {
        "secret": ("secret-input", True),
        "image": ("file", False),
    }
    assert schema.defaults == {"dry_run": False}


@pytest.mark.parametrize("place", ["list", "properties"])
def test_host_level_types_are_known_in_a_list_and_in_an_object_schema(place: str) -> None:
    if place == "list":
        declared: object = RESIZE
    else:
        declared = {
            "type": "object",
            "properties": {p["name"]: {k: v for k, v in p.items() if k != "name"} for p in RESIZE},
        }
    assert tool_schema(declared).offered == tool_schema(RESIZE).offered


@pytest.mark.parametrize(
    ("parameter", "standard"),
    [
        ({"type": "select", "options": [{"value": "a", "label": {"en_US": "A"}}, {"value": "b"}]}, ["a", "b"]),
        ({"type": "select", "options": [1, 2]}, [1, 2]),
        ({"type": "dynamic-select", "options": ["a"]}, ["a"]),
    ],
)
def test_a_choice_list_becomes_an_enumeration(parameter: dict[str, Any], standard: list[Any]) -> None:
    schema = offered([{"name": "p", **parameter}])["properties"]["p"]
    assert schema["enum"] == standard
    assert schema.get("type") in {"string", "integer", None}


def test_several_choices_become_a_list_of_choices() -> None:
    parameter = {"name": "p", "type": "select", "options": ["a", "b"], "multiple": True, "help": "Which."}
    assert offered([parameter])["properties"]["p"] == {
        "type": "array",
        "items": {"type": "string", "enum": ["a", "b"]},
        "description": "Which.",
    }


def test_the_precision_of_a_number_is_kept() -> None:
    assert offered([{"name": "p", "type": "number", "precision": 0}])["properties"]["p"] == {"type": "integer"}
    assert offered([{"name": "p", "type": "number", "precision": 2}])["properties"]["p"] == {
        "type": "number",
        "multipleOf": 0.01,
    }


@pytest.mark.parametrize(
    "kind",
    [
        "file",
        "files",
        "secret-input",
        "model-selector",
        "app-selector",
        "array[tools]",
        "array[file]",
        ["file", "null"],
    ],
)
def test_types_that_only_a_user_can_fill_are_not_offered(kind: Any) -> None:
    schema = tool_schema(
        {"type": "object", "properties": {"a": {"type": "string"}, "p": {"type": kind}}, "required": ["p"]}
    )
    assert list(schema.offered["properties"]) == ["a"]
    assert "required" not in schema.offered
    assert schema.user["p"].required


def test_a_parameter_of_the_users_form_is_not_offered() -> None:
    schema = tool_schema(
        [{"name": "q", "type": "string"}, {"name": "key", "type": "string", "form": "form", "default": "k"}]
    )
    assert list(schema.offered["properties"]) == ["q"]
    assert schema.defaults == {"key": "k"}


def test_unknown_types_allow_anything_and_are_noted() -> None:
    schema = tool_schema({"type": "object", "properties": {"p": {"type": "frobnicator", "description": "d"}}})
    assert schema.offered["properties"]["p"] == {"description": "d"}
    assert schema.notes == ("parameter 'p' has the type 'frobnicator', which is unknown; anything is allowed there",)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("object", "it is str 'object'; expected an object schema"),
        (7, "it is int '7'"),
        (False, "it is bool 'False'"),
        (["a", "b"], "parameter 1 is not a dict with a 'name' and a 'type'"),
        ([{"name": "a", "type": "string"}, {"name": "a", "type": "string"}], "two parameters are named 'a'"),
        ({"type": "string"}, "its parameters are of type 'string'; expected an object"),
        ({"type": "array", "items": {}}, "of type 'array'"),
        ({"type": "object", "properties": "x"}, "the properties of its parameters are str 'x'; expected an object"),
        ({"type": "object", "properties": {"a": 5}}, "parameter 'a' is the int 5; expected a schema"),
        ({"type": "object", "properties": {"a": {"anyOf": "x"}}}, "anyOf without a list of schemas"),
        ({"type": "object", "properties": {1: {}}}, "has the key 1"),
        ({"type": "object", "properties": {"a": object()}}, "$.properties.a holds a object, which is not JSON"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_reason(declared: object, words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tool_schema(declared)
    assert words in caught.value.message


def test_a_schema_that_holds_itself_is_refused() -> None:
    declared: dict[str, Any] = {"type": "object", "properties": {}}
    declared["properties"]["again"] = declared
    with pytest.raises(SchemaError, match="holds itself"):
        tool_schema(declared)

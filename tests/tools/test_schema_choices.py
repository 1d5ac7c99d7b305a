"""Choices and conditions in tools' schemas: folded where endpoints refuse them, and checked all the same."""

from typing import Any

import pytest

from enfilade.tools.schemas.schema import tool_schema
from tests.tools.declared import accepts, offered

CHOICE = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "city"}, "city": {"type": "string"}},
            "required": ["kind", "city"],
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "point"}, "lat": {"type": "number"}, "lon": {"type": "number"}},
            "required": ["kind", "lat", "lon"],
        },
        {"type": "null"},
    ]
}


def test_a_choice_at_the_top_is_folded_and_still_checked() -> None:
    schema = tool_schema(CHOICE)
    assert schema.offered == {
        "type": "object",
        "properties": {
            "kind": {"enum": ["city", "point"]},
            "city": {"type": "string"},
            "lat": {"type": "number"},
            "lon": {"type": "number"},
        },
        "required": ["kind"],
        "description": ('Give exactly one of these sets of parameters: kind="city", city; or kind="point", lat, lon.'),
    }
    assert accepts(schema, {"kind": "city", "city": "Oban"})
    assert accepts(schema, {"kind": "point", "lat": 56.4, "lon": -5.5})
    assert not accepts(schema, {"kind": "point", "city": "Oban"})


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "not", "if", "then", "enum", "const"])
def test_nothing_stands_at_the_top_that_model_endpoints_refuse(keyword: str) -> None:
    value: Any = {"properties": {"a": {"type": "string"}}}
    if keyword in {"anyOf", "oneOf", "allOf"}:
        value = [value, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]
    elif keyword == "enum":
        value = [{"a": "x"}]
    elif keyword == "const":
        value = {"a": "x"}
    schema = offered({"type": "object", "properties": {"c": {"type": "string"}}, keyword: value})
    assert keyword not in schema
    assert "c" in schema["properties"]


def test_all_of_is_merged_as_its_author_meant() -> None:
    closed = {"additionalProperties": False}
    schema = tool_schema(
        {
            "allOf": [
                {"$ref": "#/$defs/Base"},
                {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"], **closed},
            ],
            "$defs": {"Base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], **closed}},
        }
    )
    assert schema.offered == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "additionalProperties": False,
        "required": ["a", "b"],
    }
    assert accepts(schema, {"a": "x", "b": 1})


def test_a_closed_object_beside_a_choice_knows_the_properties_of_the_choice() -> None:
    branches = [
        {"properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ]
    schema = tool_schema({"type": "object", "additionalProperties": False, "oneOf": branches})
    assert accepts(schema, {"a": "x"})
    assert accepts(schema, {"b": 1})
    assert not accepts(schema, {"a": "x", "b": 1})
    assert schema.offered["additionalProperties"] is False


def test_one_property_of_several_ways_to_choose_allows_what_each_of_them_allows() -> None:
    branches = [
        {"properties": {"to": {"type": "string"}, "n": {"type": "integer", "minimum": 1}}, "required": ["to"]},
        {"properties": {"to": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer", "minimum": 1}}},
        {"$ref": "#/$defs/Third"},
    ]
    third = {"type": "object", "properties": {"to": {"enum": ["all"]}}}
    schema = tool_schema(
        {"type": "object", "properties": {"n": {"maximum": 9}}, "anyOf": branches, "$defs": {"Third": third}}
    )
    assert schema.offered["properties"]["to"] == {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}},
            {"type": "string", "enum": ["all"]},
        ]
    }
    assert schema.offered["properties"]["n"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert accepts(schema, {"to": ["a", "b"], "n": 3})
    assert not accepts(schema, {"to": 5})


def test_what_only_a_condition_names_is_offered_too() -> None:
    schema = tool_schema(
        {
            "type": "object",
            "properties": {"kind": {"type": "string"}},
            "if": {"properties": {"kind": {"const": "city"}}, "required": ["kind"]},
            "then": {"properties": {"city": {"type": "string"}}, "required": ["city"]},
            "dependentSchemas": {"kind": {"properties": {"note": {"type": "string"}}}},
        }
    )
    assert schema.offered == {
        "type": "object",
        "properties": {"kind": {"type": "string"}, "city": {"type": "string"}, "note": {"type": "string"}},
    }
    assert accepts(schema, {"kind": "other"})
    assert not accepts(schema, {"kind": "city"})

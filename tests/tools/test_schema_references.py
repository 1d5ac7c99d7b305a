"""References in tools' schemas: found, kept, held together with what stands beside them, never without end."""

from typing import Any

import pytest

from enfilade.tools.schemas.schema import tool_schema
from tests.tools.declared import RECURSIVE, accepts, offered, property_of


def test_references_are_kept_together_with_what_they_mean() -> None:
    schema = offered(RECURSIVE)
    text = str(schema)
    assert all(word in text for word in ("brief", "long", "words"))
    assert set(schema["$defs"]) == {"Req"}
    assert schema["properties"]["q"]["properties"]["then"] == {"$ref": "#/$defs/Req"}
    assert schema["properties"]["mode"]["anyOf"] == [{"type": "string", "enum": ["brief", "long"]}, {"type": "null"}]


def test_arguments_of_a_recursive_schema_are_checked_to_the_last_level() -> None:
    schema = tool_schema(RECURSIVE)
    assert accepts(schema, {"q": {"words": "a", "then": {"words": "b", "then": {"words": "c"}}}})
    assert not accepts(schema, {"q": {"words": "a", "then": {"words": "b", "then": {"word": "c"}}}})


@pytest.mark.parametrize(
    ("reference", "definitions"),
    [
        ("#/$defs/City", {"$defs": {"City": {"type": "string", "minLength": 2}}}),
        ("#/definitions/City", {"definitions": {"City": {"type": "string", "minLength": 2}}}),
        ("#/definitions/City", {"$defs": {"City": {"type": "string", "minLength": 2}}}),
        ("#/components/schemas/City", {"components": {"schemas": {"City": {"type": "string", "minLength": 2}}}}),
        ("#/components/schemas/City", {"$defs": {"City": {"type": "string", "minLength": 2}}}),
        ("#/$defs/a~1b%20c", {"$defs": {"a/b c": {"type": "string", "minLength": 2}}}),
        ("#city", {"$defs": {"x": {"$anchor": "city", "type": "string", "minLength": 2}}}),
        ("city.json", {"$defs": {"x": {"$id": "https://e.example/city.json", "type": "string", "minLength": 2}}}),
        ("City", {"$defs": {"City": {"type": "string", "minLength": 2}}}),
        ("#/properties/other", {}),
    ],
)
def test_a_reference_is_found_in_every_place_that_is_in_use(reference: str, definitions: dict[str, Any]) -> None:
    properties = {"p": {"$ref": reference}, "other": {"type": "string", "minLength": 2}}
    schema = tool_schema({"type": "object", "properties": properties, **definitions})
    assert schema.offered["properties"]["p"] == {"type": "string", "minLength": 2}
    assert schema.notes == ()


def test_definitions_inside_a_property_are_found_from_there() -> None:
    part = {"$ref": "#/$defs/In", "$defs": {"In": {"type": "object", "properties": {"a": {"type": "integer"}}}}}
    assert property_of(part) == {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_words_beside_a_reference_win_over_those_of_its_target() -> None:
    declared = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/T", "description": "here", "default": 3}},
        "$defs": {"T": {"type": "integer", "description": "there", "minimum": 1}},
    }
    assert offered(declared)["properties"]["p"] == {
        "type": "integer",
        "description": "here",
        "minimum": 1,
        "default": 3,
    }


def test_limits_beside_a_reference_are_held_together_with_those_of_its_target() -> None:
    target = {"type": "string", "pattern": "^a", "minLength": 2}
    declared = {
        "properties": {"p": {"$ref": "#/$defs/T", "pattern": "b$", "description": "here"}},
        "$defs": {"T": target},
    }
    schema = tool_schema(declared)
    assert schema.offered["properties"]["p"]["description"] == "here"
    assert accepts(schema, {"p": "ab"})
    assert not accepts(schema, {"p": "a"})
    assert not accepts(schema, {"p": "b"})
    assert not accepts(schema, {"p": "b a"})


@pytest.mark.parametrize("reference", ["#/$defs/None", "http://127.0.0.1:9/x.json", "file:///etc/hostname", "#nowhere"])
def test_a_reference_without_a_target_allows_anything_and_is_noted(reference: str) -> None:
    schema = tool_schema({"type": "object", "properties": {"p": {"$ref": reference, "description": "what it is"}}})
    assert schema.offered["properties"]["p"] == {"description": "what it is"}
    assert reference in schema.notes[0]


@pytest.mark.parametrize(
    "definitions",
    [
        {"A": {"$ref": "#/$defs/A"}},
        {"A": {"$ref": "#/$defs/B"}, "B": {"anyOf": [{"$ref": "#/$defs/A"}]}},
        {"A": {"allOf": [{"type": "object"}, {"$ref": "#/$defs/A"}]}},
        {"A": {"not": {"$ref": "#/$defs/A"}}},
    ],
)
def test_references_that_only_lead_back_to_themselves_end(definitions: dict[str, Any]) -> None:
    schema = tool_schema({"type": "object", "properties": {"p": {"$ref": "#/$defs/A"}}, "$defs": definitions})
    assert schema.notes
    assert accepts(schema, {"p": 1})


def test_a_tool_may_refer_to_its_own_parameters() -> None:
    schema = tool_schema({"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}}})
    assert accepts(schema, {"n": 1, "next": {"n": 2, "next": {"n": 3}}})
    assert not accepts(schema, {"n": 1, "next": {"n": 2, "next": {"n": []}}})


def test_references_that_double_at_each_level_do_not_explode() -> None:
    definitions: dict[str, Any] = {"L0": {"type": "string"}}
    for level in range(1, 40):
        twice = {"$ref": f"#/$defs/L{level - 1}"}
        definitions[f"L{level}"] = {"type": "object", "properties": {"a": twice, "b": twice}}
    schema = tool_schema({"type": "object", "properties": {"p": {"$ref": "#/$defs/L39"}}, "$defs": definitions})
    assert len(str(schema.offered)) < 1_000_000
    assert schema.notes == ()


def test_a_reference_among_data_is_data() -> None:
    part = {"type": "object", "default": {"$ref": "#/nowhere"}}
    assert property_of(part) == part


def test_only_definitions_that_are_used_go_out() -> None:
    declared = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Tree"}, "b": {"type": "string"}},
        "$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}, "Spare": {"type": "string"}},
    }
    schema = tool_schema(declared)
    assert list(schema.offered["$defs"]) == ["Tree"]
    assert "$defs" not in schema.without({"a"}).offered

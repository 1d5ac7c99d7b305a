"""What holds for every schema, however odd."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from enfilade.tools.schemas.keywords import KNOWN, NAMED, TYPES, children
from enfilade.tools.schemas.schema import SchemaError, tool_schema

NAMES = st.sampled_from(["a", "b", "city", "type", "$ref", "properties", ""])
TYPE_NAMES = st.sampled_from(
    [*TYPES, "select", "file", "secret-input", "any", "int", "list[str]", "STRING", "string|null", "foo", ""]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(["a", "b", "3", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
REFERENCES = st.sampled_from(
    ["#", "#/$defs/a", "#/definitions/b", "#/properties/a", "#/nowhere", "a", "http://h.example/x"]
)


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(NAMES, inner, max_size=3)
    several = st.lists(inner, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPE_NAMES | st.lists(TYPE_NAMES, max_size=3) | st.none() | VALUES,
        "properties": named | st.none() | VALUES,
        "required": st.lists(NAMES, max_size=3) | st.none() | st.booleans(),
        "additionalProperties": inner | st.booleans() | st.none(),
        "items": inner | several | st.none(),
        "$ref": REFERENCES,
        "enum": st.lists(VALUES, max_size=3) | st.none(),
        "const": VALUES,
        "default": VALUES,
        "nullable": st.booleans(),
        "description": st.sampled_from(["d", None, {"en": "d"}, 3]),
        "minimum": st.integers(0, 3) | st.sampled_from(["3", None, "x"]),
        "exclusiveMinimum": st.booleans() | st.integers(0, 3),
        "pattern": st.sampled_from(["^a", "(", None]),
        "options": st.lists(VALUES, max_size=3),
        "multiple": st.booleans(),
        "precision": st.integers(-1, 3),
    }
    for keyword in ("anyOf", "oneOf", "allOf"):
        keywords[keyword] = several | st.none()
    for keyword in ("$defs", "definitions", "patternProperties", "dependentSchemas"):
        keywords[keyword] = named
    for keyword in ("not", "if", "then", "else"):
        keywords[keyword] = inner
    return st.fixed_dictionaries({}, optional=keywords) | st.sampled_from([True, False, None, "string"])


DECLARED = st.recursive(
    st.fixed_dictionaries({"type": TYPE_NAMES}) | st.fixed_dictionaries({"$ref": REFERENCES}), schemas, max_leaves=8
)


def parts(schema: Any) -> list[dict[str, Any]]:
    found, ahead = [], [schema]
    while ahead:
        node = ahead.pop()
        if isinstance(node, dict):
            found.append(node)
            ahead += [child for child, _ in children(node)]
    return found


@settings(max_examples=150, deadline=None)
@given(DECLARED | VALUES | st.lists(st.fixed_dictionaries({"name": NAMES, "type": TYPE_NAMES}), max_size=3))
def test_a_schema_is_made_fit_or_refused_and_never_anything_else(declared: Any) -> None:
    before = copy.deepcopy(declared)
    try:
        schema = tool_schema(declared)
    except SchemaError as error:
        assert error.message
        return
    finally:
        assert repr(declared) == repr(before)
    for form in (schema.offered, schema.check):
        Draft202012Validator(form, offline=True)
        assert form["type"] == "object"
        assert isinstance(form["properties"], dict)
        for part in parts(form):
            assert part.keys() <= KNOWN
            assert "type" not in part or part["type"] in TYPES
            assert "$ref" not in part or part["$ref"].removeprefix("#/$defs/") in form["$defs"]
    assert not schema.offered.keys() & {"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"}
    assert not schema.offered["properties"].keys() & schema.user.keys()


@settings(max_examples=100, deadline=None)
@given(DECLARED)
def test_a_schema_that_was_made_fit_has_nothing_left_to_mend(declared: Any) -> None:
    try:
        once = tool_schema(declared).offered
    except SchemaError:
        return
    again = tool_schema(once)
    assert again.notes == ()
    assert again.offered["properties"].keys() == once["properties"].keys()
    assert again.offered.get("required") == once.get("required")


def test_every_keyword_that_maps_names_is_walked() -> None:
    assert all(children({keyword: {"x": {"type": "string"}}}) for keyword in NAMED)

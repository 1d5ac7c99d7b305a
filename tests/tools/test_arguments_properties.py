"""What holds for all arguments, however odd."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from enfilade.tools.arguments.coercion import Coercion
from enfilade.tools.arguments.reader import ArgumentReader, ArgumentsError
from enfilade.tools.names import is_valid, valid_names
from enfilade.tools.schemas.schema import tool_schema

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
WRITTEN = JSON | JSON.map(json.dumps) | JSON.map(repr) | st.sampled_from(["5", "true", "[1", "{'a': 1}", "a, b", " 7 "])


def parts(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    array = st.builds(lambda items: {"type": "array", "items": items}, inner)
    many = st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    objects = st.builds(
        lambda properties, closed, required: {
            "type": "object",
            "properties": properties,
            "required": [name for name in required if name in properties],
            **({"additionalProperties": False} if closed else {}),
        },
        many,
        st.booleans(),
        st.sets(st.sampled_from(["a", "b", "c"])),
    )
    choices = st.builds(
        lambda keyword, branches: {keyword: branches},
        st.sampled_from(["anyOf", "oneOf"]),
        st.lists(inner, min_size=1, max_size=3),
    )
    return array | objects | choices


PARTS = st.recursive(
    st.sampled_from(
        [
            {},
            {"type": "string"},
            {"type": "integer"},
            {"type": "number", "minimum": 0},
            {"type": "boolean"},
            {"type": "null"},
            {"type": "array", "items": {}},
            {"type": "object"},
            {"enum": ["a", "B", 3]},
            {"const": "x"},
            {"$ref": "#/$defs/Tree"},
        ]
    ),
    parts,
    max_leaves=6,
)
TREE = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
}
SCHEMAS = st.builds(
    lambda properties, required, closed: {
        "type": "object",
        "properties": properties,
        "required": [name for name in required if name in properties],
        "$defs": {"Tree": TREE},
        **({"additionalProperties": False} if closed else {}),
    },
    st.dictionaries(st.sampled_from(["a", "b", "c"]), PARTS, max_size=3),
    st.sets(st.sampled_from(["a", "b", "c"])),
    st.booleans(),
)
GIVEN = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), WRITTEN, max_size=4)


@settings(max_examples=100, deadline=None)
@given(SCHEMAS, GIVEN | WRITTEN | st.text(max_size=20))
def test_whatever_is_given_is_read_or_refused_and_what_is_read_fits(schema: dict[str, Any], given: Any) -> None:
    made = tool_schema(schema)
    try:
        values = ArgumentReader("t", made).read(given).values
    except ArgumentsError as error:
        assert error.message.startswith("the arguments do not fit the tool t:")
        return
    assert Draft202012Validator(made.check, offline=True).is_valid(values)


@settings(max_examples=100, deadline=None)
@given(SCHEMAS, st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), JSON, max_size=4))
def test_arguments_that_fit_pass_unchanged(schema: dict[str, Any], given: dict[str, Any]) -> None:
    made = tool_schema(schema)
    if Draft202012Validator(made.check, offline=True).is_valid(given):
        values = ArgumentReader("t", made).read(given).values
        assert repr(values) == repr(given)


@settings(max_examples=100, deadline=None)
@given(PARTS, WRITTEN)
def test_what_was_brought_nearer_stays_where_it_is(part: Any, value: Any) -> None:
    root = tool_schema({"type": "object", "properties": {"p": part}, "$defs": {"Tree": TREE}}).check
    coercion = Coercion(root)
    nearer = coercion.nearer(root["properties"]["p"], value)
    if coercion.fits(root["properties"]["p"], nearer):
        assert repr(coercion.nearer(root["properties"]["p"], nearer)) == repr(nearer)


NAMES = st.text(max_size=90) | st.sampled_from(
    ["weather", "weather.get", "weather_get", "a b", "a_b", "天气", "x" * 64, "x" * 65]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(NAMES, unique=True, max_size=12))
def test_names_become_valid_and_stay_apart_and_valid_ones_stay(names: list[str]) -> None:
    made = valid_names(names)
    assert all(map(is_valid, made))
    assert len(set(made)) == len(names)
    assert all(new == old for old, new in zip(names, made, strict=True) if is_valid(old))
    assert valid_names(names) == made


def test_names_keep_what_can_be_read_of_them() -> None:
    assert valid_names(["weather.get", "Météo locale", "a b", "a_b"]) == ["weather_get", "Meteo_locale", "a_b_2", "a_b"]
    first, second = valid_names(["天气", "天文"])
    assert first.startswith("tool_")
    assert first != second
    long = valid_names(["n" * 70, "n" * 71])
    assert all(len(name) == 64 for name in long)

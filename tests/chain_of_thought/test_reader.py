import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfilade_cot.reader import MAX_DEPTH, Reader, Status, read_whole

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(JSON, st.sampled_from([None, 0, 2]), st.booleans())
def test_valid_json_is_read_as_json_loads_reads_it(value: object, indent: int | None, strict: bool) -> None:
    text = json.dumps(value, indent=indent)
    assert read_whole(text, strict=strict) == (True, json.loads(text))


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4), st.text(max_size=20))
def test_what_follows_a_valid_object_does_not_change_it(value: object, rest: str) -> None:
    text = json.dumps(value)
    reader = Reader()
    end = reader.advance(text + rest, 0, eof=True)
    assert (reader.status, reader.value, end) == (Status.DONE, value, len(text))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="{}[]\",:'\\ntu0a1 `/*\n", max_size=40))
def test_one_character_at_a_time_reads_the_same(text: str) -> None:
    whole = Reader()
    end = whole.advance(text, 0, eof=True)
    pieces = Reader()
    held, at = "", 0
    for index, character in enumerate(text):
        held += character
        done = pieces.advance(held, 0, eof=index == len(text) - 1)
        held, at = held[done:], at + done
    assert (pieces.status, pieces.value, at) == (whole.status, whole.value, end)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': None, 'b': True, 'c': False}", {"a": None, "b": True, "c": False}),
        ('{"a": undefined}', {"a": None}),
        ('{"a": .5, "b": +3, "c": 1e3, "d": -0.0}', {"a": 0.5, "b": 3, "c": 1000.0, "d": -0.0}),
        ('{"a": 1e999}', {"a": "1e999"}),
        ('{"a": NaN}', {"a": "NaN"}),
        (f'{{"a": {"9" * 350}}}', {"a": "9" * 350}),
        ('{"a": "x\\qy"}', {"a": "x\\qy"}),
        ('{"a": "\\u12"}', {"a": "\\u12"}),
        ('{"a": "\\ud800x"}', {"a": "\ufffdx"}),
        ('{"a": "\\udc00"}', {"a": "\ufffd"}),
        ('{"a": "C:\\\\dir"}', {"a": "C:\\dir"}),
        ('{"a": "b", "a": "c"}', {"a": "c"}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": "say "go" now", "b": 1}', {"a": 'say "go" now', "b": 1}),
        ('{"a": "yes", then no", "b": 1}', {"a": 'yes", then no', "b": 1}),
        ('{"a": "f("x", "y")"}', {"a": 'f("x", "y")'}),
        ('["a "b" c", "d"]', ['a "b" c', "d"]),
        ("{'a': 'it's', 'b': 'l'eau'}", {"a": "it's", "b": "l'eau"}),
        ("{\u201ca\u201d: \u201cb\u201d}", {"a": "b"}),
        ('{"a"\uff1a 1\uff0c "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1\n"b": 2}', {"a": 1, "b": 2}),
        ('{a: b, c_d: "e"}', {"a": "b", "c_d": "e"}),
        ('{"a": """x "y" z"""}', {"a": 'x "y" z'}),
        ('{"a": "", "b": \'\'}', {"a": "", "b": ""}),
        ('{"a": 1, // one\n /* two */ "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "http://x/y" }', {"a": "http://x/y"}),
        ('{"a": "line\nline\t"}', {"a": "line\nline\t"}),
        ('{"a": `x`}', {"a": "x"}),
    ],
)
def test_what_models_write_for_json_is_read(text: str, value: object) -> None:
    assert read_whole(text) == (True, value)


@pytest.mark.parametrize(
    "text", ["", "{", "[", '{"a"', '{"a":', '{"a" 1}', '{"a": b c}', "{a}", "[1, 2}", '{"a": 1} x', "{,}", "{[]: 1}"]
)
def test_what_is_not_readable_is_not_read(text: str) -> None:
    assert read_whole(text) == (False, None)


@pytest.mark.parametrize("text", ["{'a': 1}", "{'a': None}", '{"a": 1,}', '["x", 2.5, true]'])
def test_python_and_trailing_commas_are_read_strictly_too(text: str) -> None:
    assert read_whole(text, strict=True)[0]


@pytest.mark.parametrize("text", ["{a: 1}", '{"a": b}', '{"a": "x "y" z"}', '{"a": 1 // c\n}', '{"a": 1\n"b": 2}'])
def test_nothing_is_guessed_strictly(text: str) -> None:
    assert read_whole(text, strict=True) == (False, None)


def test_nesting_has_a_limit_instead_of_a_recursion_error() -> None:
    assert read_whole("[" * MAX_DEPTH + "]" * MAX_DEPTH)[0]
    assert read_whole("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) == (False, None)


def test_only_brackets_may_be_missing() -> None:
    for text, closes in (
        ('{"a": {"b": [1', True),
        ('{"a": {"b": "c"', True),
        ('{"a": {"b": "c', False),
        ('{"a": 1,', False),
        ('{"a":', False),
    ):
        reader = Reader()
        reader.advance(text, 0, eof=True)
        assert reader.close() is closes, text

"""Arguments of calls: lenient in what is read, strict in what is sent."""

import itertools
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.arguments import read_arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), JSON, max_size=4)


@pytest.mark.parametrize(
    "pieces", [[], [""], [None], ["{}"], ["null"], [" "], ["None"], [[]], ["[]"], [{}], ["", None, ""]]
)
def test_no_arguments_are_an_empty_object(pieces: list[Any]) -> None:
    assert read_arguments(pieces) == ("{}", {}, None, False)


def test_strict_text_is_kept_as_the_model_wrote_it() -> None:
    assert read_arguments(['{"b":1, ', '"a" : [2]}']).text == '{"b":1, "a" : [2]}'


def test_a_string_that_holds_json_is_opened_however_often_it_was_packed() -> None:
    text = json.dumps({"city": "Oban"})
    for _ in range(3):
        text = json.dumps(text)
        assert read_arguments([text]) == ('{"city": "Oban"}', {"city": "Oban"}, None, False)


@pytest.mark.parametrize(
    ("pieces", "parsed"),
    [
        ([{"city": "Oban"}], {"city": "Oban"}),
        (["", {"city": "Oban"}], {"city": "Oban"}),
        ([{"a": 1}, {"b": 2}], {"a": 1, "b": 2}),
        ([{"city": "O"}, {"city": "Oban"}], {"city": "Oban"}),
        ([[{"city": "Oban"}]], {"city": "Oban"}),
        (['[{"city": "Oban"}]'], {"city": "Oban"}),
        ([['{"city": ', '"Oban"}']], {"city": "Oban"}),
        (['{"ci', '{"city": "Ob', '{"city": "Oban"}'], {"city": "Oban"}),
        (['{"city": "O', 'ban"}', '{"city": "Oban"}'], {"city": "Oban"}),
        (['{"city": "Oban"}', '{"city": "Oban"}'], {"city": "Oban"}),
        (["\ufeff", '{"city": "Oban"}'], {"city": "Oban"}),
        (["{}", '{"city": ', '"Oban"}'], {"city": "Oban"}),
        (['{"city": ', '"Oban"}', '"{\\"city\\": \\"Oban\\"}"'], {"city": "Oban"}),
        (['{"amount": 7', "00", "00", "}"], {"amount": 70000}),
        (['{"a": "x', "x", "x", '"}'], {"a": "xxx"}),
    ],
)
def test_pieces_make_the_object_that_was_meant(pieces: list[Any], parsed: dict[str, Any]) -> None:
    read = read_arguments(pieces)
    assert (read.parsed, read.error, read.repaired) == (parsed, None, False)
    assert json.loads(read.text) == parsed


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("{'city': 'Oban'}", {"city": "Oban"}),
        ("{city: Oban}", {"city": "Oban"}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"t": "he said "hi" to me"}', {"t": 'he said "hi" to me'}),
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
        ('{"a": "b"}}', {"a": "b"}),
        ('{"a": 1}<|im_end|>', {"a": 1}),
        ("{\u201ca\u201d: \u201cb\u201d}", {"a": "b"}),
        (r'{"q": "\d+"}', {"q": r"\d+"}),
        (r'{"q": "5\$\n"}', {"q": "5\\$\n"}),
        ('{"q": "say \\\'hi\\\'"}', {"q": "say 'hi'"}),
    ],
)
def test_faults_of_quoting_and_commas_are_mended_and_flagged(text: str, parsed: dict[str, Any]) -> None:
    read = read_arguments([text])
    assert (read.parsed, read.error, read.repaired) == (parsed, None, True)
    assert json.loads(read.text) == parsed


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b',
        '{"a": {"b": 1}',
        '{"a": [1, 2',
        '{"code": "if x { y }',
        '{"a":',
        "{",
        '{"a": 1,',
        '{"a": "x\\',
        "{'a': 'b",
    ],
)
def test_text_that_was_cut_off_is_never_mended(text: str) -> None:
    read = read_arguments([text])
    assert (read.text, read.parsed, read.repaired) == ("{}", None, False)
    assert read.error is not None
    assert "cut off" in read.error
    assert f"only {len(text)} characters came" in read.error


@pytest.mark.parametrize("text", ["", "{'a': 1}", '{"a": 1,}', '{"a": "b'])
def test_when_the_reply_was_cut_only_whole_json_counts(text: str) -> None:
    read = read_arguments([text], cut=True)
    assert read.parsed is None
    assert read.error is not None
    assert "cut off" in read.error
    assert read_arguments(['{"a": 1}'], cut=True).parsed == {"a": 1}


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (['{"a": 1}{"b": 2}'], "2 JSON objects in a row"),
        ([{"a": 1}, {"a": 2}], "2 JSON objects in a row"),
        (["5"], "one JSON object, but 5 came"),
        ([7], "one JSON object, but 7 came"),
        (["true"], "one JSON object, but true came"),
        (['"Oban"'], "one JSON object, but the text 'Oban' came"),
        (['[{"a": 1}, {"b": 2}]'], "one JSON object, but a list of 2 came"),
        (["Oban"], "not valid JSON"),
        (['{"a": 1} and more'], "not valid JSON"),
        (['{"t": "5" tall"}'], "not valid JSON"),
        (['{"a": 01}'], "not valid JSON"),
        (['{"a": NaN}'], "NaN"),
        (['{"path": "C:\\Oban\\new"}'], "not valid JSON"),
        (['{"tex": "\\alpha \\frac{1}{2}"}'], "not valid JSON"),
        (['{"a": 1e999}'], "NaN or Infinity"),
        (["[" * 100_000], "not valid JSON|nested too deeply"),
        (['{"a":' + "[" * 100_000], "nested too deeply|cut off"),
    ],
)
def test_what_cannot_be_read_is_told_to_the_model_and_an_object_is_sent(pieces: list[Any], words: str) -> None:
    read = read_arguments(pieces)
    assert (read.text, read.parsed, read.repaired) == ("{}", None, False)
    assert read.error is not None
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(read.error)
    assert len(read.error) < 600


def test_integers_of_any_size_stay_whole() -> None:
    number = 123456789012345678901234567890
    assert read_arguments([f'{{"n": {number}}}']).parsed == {"n": number}


def test_halves_of_a_character_meet_and_lone_ones_are_replaced() -> None:
    assert read_arguments(['{"a": "\ud83d', '\ude00"}']).parsed == {"a": "\U0001f600"}
    assert read_arguments(['{"a": "\\ud83d\\ude00"}']).parsed == {"a": "\U0001f600"}
    assert read_arguments(['{"a": "\\ud83d"}']).parsed == {"a": "\ufffd"}
    assert read_arguments(['{"a": "\ud83d"}']).text.isprintable()


@pytest.mark.parametrize(
    "text",
    ['{"a":' + '"' * 60_000 + "}", "{" * 30_000 + "}" * 30_000, '{"a":1}' * 20_000, "{" + "abc:def," * 20_000 + "}"],
)
def test_hostile_text_is_judged_quickly(text: str) -> None:
    started = time.process_time()
    read_arguments([text])
    assert time.process_time() - started < 2


@given(OBJECTS, st.data())
def test_valid_arguments_come_through_whole_however_they_are_cut(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)) | {0, len(text)})
    read = read_arguments([text[a:b] for a, b in itertools.pairwise(cuts)])
    assert read == (text, value, None, False)
    assert read_arguments([json.dumps(value, ensure_ascii=False)]).parsed == value


@given(st.lists(st.text(max_size=30) | JSON, max_size=4), st.booleans())
def test_whatever_comes_there_is_an_object_to_send_and_either_a_value_or_an_error(pieces: list[Any], cut: bool) -> None:
    read = read_arguments(pieces, cut=cut)
    sent = json.loads(read.text)
    assert isinstance(sent, dict)
    assert (read.parsed is None) == (read.error is not None)
    if read.parsed is not None:
        assert sent == read.parsed


@given(OBJECTS, st.integers(1, 40))
def test_a_cut_object_is_never_taken_for_a_whole_one(value: dict[str, Any], lost: int) -> None:
    text = json.dumps(value)
    cut = text[: -min(lost, len(text) - 1)]
    assert read_arguments([cut]).parsed is None

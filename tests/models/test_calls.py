"""Tool calls put together from deltas: the field reports fc-01 to fc-10 and their kin."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.calls import MAX_CALLS, NAMELESS, CallAssembly, TooManyCallsError
from tests.models.call_shapes import OBAN, SHAPES, d

KNOWN = {"weather", "tide", "notes_search", "book", "now", "get_tide_table", "gogo"}
REQUIRED = {"weather", "tide", "notes_search"}


def assembled(*deltas: Any, known: set[str] = KNOWN, cut: bool = False) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of the calls; each delta is a list of entries or one entry alone."""
    numbers = itertools.count(1)
    calls = CallAssembly(known, REQUIRED, lambda: f"minted{next(numbers)}")
    for delta in deltas:
        calls.feed(delta)
    return [(call.id, call.name, call.parsed) for call in calls.finish(cut=cut)]


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_come_out_whole_in_every_shape_that_servers_send(shape: str) -> None:
    deltas, expected = SHAPES[shape]
    assert assembled(*deltas) == expected


def test_a_call_that_names_no_tool_is_reported_and_can_be_sent_back() -> None:
    calls = CallAssembly(KNOWN)
    calls.feed([d(0, "a", None, OBAN)])
    (call,) = calls.finish()
    assert call.name == NAMELESS
    assert call.parsed is None
    assert call.error is not None
    assert "names no tool" in call.error


def test_only_the_call_written_last_can_be_half_a_call_when_the_reply_was_cut_off() -> None:
    calls = CallAssembly(KNOWN)
    calls.feed([d(0, "a", "now", ""), d(1, "b", "weather", "")])
    first, second = calls.finish(cut=True)
    assert first.parsed == {}
    assert second.parsed is None
    assert second.error is not None
    assert "cut off" in second.error


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("Oban", "Oban"),
        ('"Oban"', "Oban"),
        (" Fort William ", "Fort William"),
        ("5", "5"),
        ("city=Oban", None),
        ('city": "Oban"}', None),
        ('["Oban"]', None),
        ("<city>Oban</city>", None),
        ('{"city": ', None),
        ('"\\"Oban\\""', None),
    ],
)
def test_a_bare_text_is_the_one_text_that_a_tool_needs(text: str, city: str | None) -> None:
    text_, number = {"type": "string"}, {"type": "integer"}
    needs = {"properties": {"city": text_, "days": number}, "required": ["city"]}
    others = [{}, {"properties": {"days": number}}, {"properties": {"city": text_, "unit": text_}}]
    for schema, expected in [(needs, city), *((other, None) for other in others)]:
        for cut in (False, True):
            calls = CallAssembly({"weather": schema})
            calls.feed([d(0, "a", "weather", text)])
            (call,) = calls.finish(cut=cut)
            assert call.parsed == (None if cut or expected is None else {"city": expected})
            assert json.loads(call.arguments) == (call.parsed or {})


def test_a_legacy_function_call_is_a_call() -> None:
    calls = CallAssembly(KNOWN, mint=lambda: "minted")
    calls.feed_legacy({"name": "weather", "arguments": ""})
    calls.feed_legacy({"arguments": '{"city": '})
    calls.feed_legacy({"arguments": '"Oban"}'})
    assert [(call.id, call.name, call.parsed) for call in calls.finish()] == [("minted", "weather", {"city": "Oban"})]


def test_a_call_sent_in_the_new_and_the_legacy_form_is_one_call() -> None:
    calls = CallAssembly(KNOWN)
    calls.feed_legacy({"name": "weather", "arguments": OBAN})
    calls.feed([d(0, "a", "weather", OBAN)])
    assert [call.id for call in calls.finish()] == ["a"]


def test_minted_ids_are_nine_letters_and_digits_and_differ() -> None:
    calls = CallAssembly(KNOWN)
    calls.feed([d(0, None, "now", "{}"), d(1, None, "now", "{}")])
    ids = [call.id for call in calls.finish()]
    assert len(set(ids)) == 2
    assert all(len(id_) == 9 and id_.isalnum() for id_ in ids)


def test_a_minted_id_never_takes_one_that_is_there() -> None:
    names = iter(["a", "a", "free"])
    calls = CallAssembly(KNOWN, mint=lambda: next(names))
    calls.feed([d(0, "a", "now", "{}"), d(1, None, "now", "{}")])
    assert [call.id for call in calls.finish()] == ["a", "free"]


def test_a_reply_with_too_many_calls_is_refused() -> None:
    calls = CallAssembly(KNOWN)
    with pytest.raises(TooManyCallsError, match="more than 512 tool calls"):
        for number in range(MAX_CALLS + 1):
            calls.feed([d(number, f"id{number}", "now", "{}")])


def test_the_display_pieces_of_a_call_join_to_the_call() -> None:
    calls = CallAssembly(KNOWN)
    shown = [
        delta
        for piece in (d(0, "a", "weather", ""), d(0, None, None, '{"city": '), d(0, "a", "weather", '"Oban"}'))
        for delta in calls.feed(piece)
    ]
    assert [delta.index for delta in shown] == [0, 0, 0]
    assert "".join(delta.name for delta in shown) == "weather"
    assert [delta.id for delta in shown] == ["a", "", ""]
    assert "".join(delta.arguments for delta in shown) == OBAN


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(KNOWN)), st.dictionaries(st.text(max_size=5), st.integers())), max_size=4
    ),
    st.data(),
)
def test_however_the_arguments_are_cut_the_calls_are_equal(
    calls: list[tuple[str, dict[str, int]]], data: st.DataObject
) -> None:
    style = data.draw(st.sampled_from(["index", "id", "both"]))
    deltas = []
    for number, (name, arguments) in enumerate(calls):
        index = number if style in ("index", "both") else None
        deltas.append(d(index, f"c{number}" if style in ("id", "both") else None, name, ""))
        text = json.dumps(arguments)
        cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)))
        deltas += [d(index, None, None, text[a:b]) for a, b in itertools.pairwise([0, *cuts, len(text)])]
    assert [(name, parsed) for _, name, parsed in assembled(*deltas)] == calls


@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=6),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["index", "id", "function", "name", "arguments", "x"]), inner, max_size=4
                )
            ),
            max_leaves=12,
        ),
        max_size=6,
    )
)
def test_no_delta_however_odd_raises_or_gives_a_call_that_cannot_be_sent(deltas: list[Any]) -> None:
    calls = CallAssembly(KNOWN, REQUIRED)
    for delta in deltas:
        calls.feed(delta)
    finished = calls.finish()
    assert len({call.id for call in finished}) == len(finished)
    for call in finished:
        assert call.id
        assert call.name
        assert isinstance(json.loads(call.arguments), dict)
        assert (call.parsed is None) == (call.error is not None)

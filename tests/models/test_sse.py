"""Event streams read from bytes: fc-18 and its kin."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.sse import SseEvent, SseOverflowError, SseReader, is_end


def read(*parts: bytes, limit: int = 2**20) -> list[SseEvent]:
    reader = SseReader(limit)
    events = [event for part in parts for event in reader.feed(part)]
    return events + reader.end()


def datas(*parts: bytes) -> list[bytes]:
    return [event.data for event in read(*parts)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_end_at_each_of_the_three_line_ends(end: bytes) -> None:
    assert datas(b"data: one" + end + end + b"data: two" + end + end) == [b"one", b"two"]


def test_an_event_is_given_out_with_its_blank_line_and_not_later() -> None:
    reader = SseReader()
    assert reader.feed(b"data: one\n") == []
    assert reader.feed(b"\n") == [SseEvent(b"one")]


def test_an_event_that_ends_with_a_bare_cr_does_not_wait_for_the_next_byte() -> None:
    reader = SseReader()
    assert reader.feed(b"data: one\r\r") == [SseEvent(b"one")]
    assert reader.feed(b"data: two\r") == []
    assert reader.feed(b"\n\r\n") == [SseEvent(b"two")]


def test_comments_unknown_fields_and_blank_events_are_nothing() -> None:
    assert datas(b": ping\n\nid: 7\nretry: 10\nfoo\nevent: x\n\n\n\ndata: one\n\n: bye\n\n") == [b"one"]


def test_the_space_behind_data_is_optional_and_only_one_is_taken() -> None:
    assert datas(b"data:one\n\ndata: two\n\ndata:  three\n\n") == [b"one", b"two", b" three"]


def test_several_data_lines_are_joined_by_a_line_feed() -> None:
    assert datas(b"data: one\ndata\ndata:\ndata: two\n\n") == [b"one\n\n\ntwo"]


def test_the_event_name_belongs_to_its_event_alone() -> None:
    assert read(b"event: error\ndata: one\n\ndata: two\n\n") == [SseEvent(b"one", b"error"), SseEvent(b"two")]


def test_an_event_without_its_blank_line_at_the_end_is_given_out() -> None:
    assert datas(b"data: one\n\ndata: two") == [b"one", b"two"]
    assert datas(b"data: one\n") == [b"one"]


def test_a_byte_order_mark_is_skipped_even_when_it_is_cut() -> None:
    assert datas(b"\xef\xbb\xbfdata: one\n\n") == [b"one"]
    assert datas(b"\xef", b"\xbb", b"\xbfdata: one\n\n") == [b"one"]


def test_line_separators_of_unicode_are_not_line_ends() -> None:
    text = "a\u2028b\u0085c\x0bd\x0ce\x1cf".encode()
    assert datas(b"data: " + text + b"\n\n") == [text]


def test_characters_cut_by_the_network_stay_whole() -> None:
    whole = "data: ✅ café 潮\n\n".encode()
    assert datas(*(whole[at : at + 1] for at in range(len(whole)))) == ["✅ café 潮".encode()]


@pytest.mark.parametrize(
    "parts", [[b"data: " + b"x" * 101], [b"data: ", *[b"x" * 10] * 11], [b"data: " + b"x" * 101 + b"\n\n"]]
)
def test_a_line_above_the_limit_is_refused(parts: list[bytes]) -> None:
    with pytest.raises(SseOverflowError, match="longer than 100 bytes"):
        read(*parts, limit=100)


def test_an_event_of_many_lines_above_the_limit_is_refused() -> None:
    with pytest.raises(SseOverflowError, match="event of the stream is longer than 100 bytes"):
        read(*[b"data: " + b"x" * 10 + b"\n"] * 20, limit=100)


def test_an_event_in_a_part_of_its_own_and_events_that_share_one_are_read_alike() -> None:
    alone = [b"data: one\n\n", b"data: two\n\n", b"data: \n\n", b"data: three\n\n"]
    assert datas(*alone) == datas(b"".join(alone)) == [b"one", b"two", b"", b"three"]


@pytest.mark.parametrize("before", [b"event: error\n", b"data: zero\n", b"\xef\xbb", b"dat", b"data: zero\r"])
def test_what_stands_before_a_part_is_not_forgotten(before: bytes) -> None:
    part = b"data: one\n\ndata: two\n\n"
    assert read(before, part) == read(before + part)


def test_a_line_that_cannot_go_on_with_the_value_before_it_begins_an_event() -> None:
    reader = SseReader()
    assert reader.feed(b'data: {"a": 1}\n') == []
    assert reader.feed(b'data: {"b": 2}\n') == [SseEvent(b'{"a": 1}')]
    assert reader.feed(b"data: [DONE]\n") == [SseEvent(b'{"b": 2}')]
    assert reader.end() == [SseEvent(b"[DONE]")]
    assert datas(b'data: {"a": 1} \r\ndata:{"b": 2}') == [b'{"a": 1} ', b'{"b": 2}']


def test_an_object_on_a_line_without_a_field_is_an_event() -> None:
    assert datas(b'data: {"a": 1}\n\n{"error": "x"}\n') == [b'{"a": 1}', b'{"error": "x"}']
    assert datas(b'data: {"a": 1}\n{"error": "x"}') == [b'{"a": 1}', b'{"error": "x"}']


def test_a_value_over_several_lines_is_one_event() -> None:
    lines = (b"[", b'{"a": {"b": 1}', b"},", b'{"c": 2}', b"]")
    assert datas(b"".join(b"data: " + line + b"\n" for line in lines) + b"\n") == [b"\n".join(lines)]


@pytest.mark.parametrize("data", [b"[DONE]", b"  [done] ", b'"[DONE]"', b"[Done]"])
def test_the_mark_of_the_end_is_known_however_it_is_written(data: bytes) -> None:
    assert is_end(data)


PIECES = st.lists(
    st.sampled_from(
        [
            b'data: {"a": 1}',
            b"data: one",
            b"data:two",
            b"data",
            b"event: e",
            b": c",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"x",
            "é".encode(),
        ]
    ),
    max_size=30,
)


@given(PIECES, st.lists(st.integers(0, 200), max_size=8))
def test_the_events_do_not_depend_on_how_the_bytes_are_cut(pieces: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(pieces)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    assert read(*(whole[a:b] for a, b in itertools.pairwise(places))) == read(whole)
    assert read(*(whole[at : at + 1] for at in range(len(whole)))) == read(whole)

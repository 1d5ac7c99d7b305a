"""What a plugin prints is hostile input: bounded, made visible, believed only where it says something known."""

import asyncio
import json
import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.isolation.output import BURST, LINE_LIMIT, RATE, TAIL_LINES, OutputTail, printable, read_level
from enfilade.isolation.pipes import GuestPipes


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(
    st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"")), max_size=20),
    st.lists(st.integers(0, 400)),
)
def test_lines_are_the_same_however_they_were_cut(lines: list[bytes], cuts: list[int]) -> None:
    whole = b"\n".join(lines)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = [whole[start:end] for start, end in pairwise(places)]
    at_once, in_pieces = OutputTail("p"), OutputTail("p")
    at_once.feed(1, whole)
    at_once.end(1)
    for piece in pieces:
        in_pieces.feed(1, piece)
    in_pieces.end(1)
    assert in_pieces.lines == at_once.lines


def test_lines_of_two_streams_do_not_mix() -> None:
    tail = OutputTail("p")
    tail.feed(1, b"one ")
    tail.feed(2, b"two ")
    tail.feed(1, b"out\n")
    tail.feed(2, b"error\n")
    assert tail.lines == ["one out", "two error"]


def test_only_the_last_lines_are_kept_and_long_ones_are_cut() -> None:
    tail = OutputTail("p")
    tail.feed(2, b"".join(b"line %d\n" % number for number in range(1000)) + b"x" * 100_000 + b"\n")
    assert len(tail.lines) == TAIL_LINES
    assert tail.lines[-2] == "line 999"
    assert tail.lines[-1] == "x" * LINE_LIMIT


def test_an_endless_line_is_not_gathered() -> None:
    tail = OutputTail("p")
    for _ in range(100):
        tail.feed(1, b"x" * 65536)
    assert sum(map(len, tail._rests.values())) <= LINE_LIMIT  # noqa: SLF001 - what is held is the point


def test_a_burst_is_taken_as_it_comes_and_a_flood_is_slowed_to_its_rate() -> None:
    clock = Clock()
    tail = OutputTail("p", clock)
    assert tail.feed(1, b"x" * (BURST // 2)) == 0
    assert tail.feed(1, b"x" * (BURST // 2 + RATE)) == pytest.approx(1.0)
    clock.now += 1.0
    assert tail.feed(1, b"x") == pytest.approx(1 / RATE)
    clock.now += 3600
    assert tail.feed(1, b"x" * BURST) == 0


def test_empty_lines_cost_something_too() -> None:
    tail = OutputTail("p", Clock())
    assert tail.feed(1, b"\n" * (BURST // 64)) > 0


def test_control_characters_are_made_visible() -> None:
    assert printable(b"a\x1b[31mb\x00\x9bc\r") == "a\\x1b[31mb\\x00\N{REPLACEMENT CHARACTER}c"
    assert printable("\u202eevil\u2066".encode()) == "\\x202eevil\\x2066"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", (logging.INFO, "plain")),
        ("[WARN] look", (logging.WARNING, "look")),
        ("[ERROR] enfilade: bad", (logging.ERROR, "enfilade: bad")),
        ("[NONSENSE] x", (logging.INFO, "[NONSENSE] x")),
        ('{"@level": "error", "@message": "m", "@module": "x"}', (logging.ERROR, "m")),
        ('{"level": "warning", "msg": "m"}', (logging.WARNING, "m")),
        (r'{"level": "info", "msg": "a\nb\u001b[2J\u2028\ud800"}', (logging.INFO, r"a\x0ab\x1b[2J\x2028\xd800")),
        ('{"@level": 7, "@message": "m"}', (logging.INFO, '{"@level": 7, "@message": "m"}')),
        ('{"@level": "error", "@message": ["m"]}', (logging.INFO, '{"@level": "error", "@message": ["m"]}')),
        ('{"level": "info", "msg": "a\\u001b[2J\\nERROR forged"}', (logging.INFO, "a\\x1b[2J\\x0aERROR forged")),
        ('{"level": "info", "msg": "\\ud800\\u2028"}', (logging.INFO, "\\xd800\\x2028")),
        ("{broken", (logging.INFO, "{broken")),
        ("{" * 5000, (logging.INFO, "{" * 5000)),
    ],
)
def test_a_level_is_believed_only_when_it_is_one(text: str, expected: tuple[int, str]) -> None:
    assert read_level(text) == expected


@given(
    st.one_of(
        st.text(), st.recursive(st.none() | st.text(), lambda inner: st.dictionaries(st.text(), inner)).map(json.dumps)
    )
)
def test_no_line_is_too_odd(text: str) -> None:
    level, message = read_level(printable(text.encode("utf-8", "surrogatepass")))
    assert "\n" not in message
    message.encode()
    assert level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)


@pytest.mark.parametrize("pieces", [[b"1|1|unix|/p|grpc|\nrest\n"], [b"1|1|unix|", b"/p|grpc|\nre", b"st\n"]])
async def test_the_first_line_of_stdout_is_taken_off(pieces: list[bytes]) -> None:
    pipes = GuestPipes(OutputTail("p"), 4096)
    for piece in pieces:
        pipes.pipe_data_received(1, piece)
    assert await asyncio.wait_for(pipes.first_line(), 1) == b"1|1|unix|/p|grpc|\n"
    assert pipes.output.lines == ["rest"]


async def test_a_first_line_without_an_end_is_given_at_the_limit_and_at_the_end() -> None:
    long, cut = GuestPipes(OutputTail("p"), 10), GuestPipes(OutputTail("p"), 10)
    long.pipe_data_received(1, b"x" * 100)
    assert await asyncio.wait_for(long.first_line(), 1) == b"x" * 10
    cut.pipe_data_received(1, b"1|1|")
    cut.pipe_connection_lost(1, None)
    assert await asyncio.wait_for(cut.first_line(), 1) == b"1|1|"
    cut.pipe_connection_lost(2, None)
    assert cut.drained.is_set()

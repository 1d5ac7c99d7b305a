"""Thought in the text: blocks at the start, nested, unclosed, closed without opening."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.think import ThinkSplitter


def split(*parts: str) -> tuple[str, str]:
    """Thought and text of a reply, as they stand at its end."""
    splitter, thought, text = ThinkSplitter(), "", ""
    for piece in [*map(splitter.feed, parts), splitter.finish()]:
        if piece.reclaimed:
            thought, text = thought + text, ""
        thought += piece.reasoning
        if piece.returned:
            thought = thought[: -piece.returned]
        text += piece.text
    return thought, text


CASES = {
    "": ("", ""),
    "Rain.": ("", "Rain."),
    "  Rain. ": ("", "  Rain. "),
    "<think>It rains.</think>Rain.": ("It rains.", "Rain."),
    "\n<think>\nIt rains.\n</think>\n\nRain.": ("\nIt rains.\n", "Rain."),
    "<THINK>It rains.</Think>Rain.": ("It rains.", "Rain."),
    "<thinking>It rains.</thinking>Rain.": ("It rains.", "Rain."),
    "[THINK]It rains.[/THINK]Rain.": ("It rains.", "Rain."),
    "<think></think>Rain.": ("", "Rain."),
    "<think>a</think> <think>b</think> Rain.": ("ab", "Rain."),
    "<think>It rains.": ("It rains.", ""),
    "<think>": ("", ""),
    "<think>It rains.</thi": ("It rains.</thi", ""),
    "<thi": ("", "<thi"),
    "<thin air>": ("", "<thin air>"),
    "<think>a<think>b</think>c</think>Rain.": ("a<think>b</think>c", "Rain."),
    "<think>Tags like <think> are odd.</think>Rain.": ("Tags like <think> are odd.</think>", "Rain."),
    "<think>a<think>b</think>\n\nRain.": ("a<think>b</think>\n\n", "Rain."),
    "Write <think> and </think> around it.": ("", "Write <think> and </think> around it."),
    "Close it with </think>.": ("", "Close it with </think>."),
    "Close it with `</think>`.": ("", "Close it with `</think>`."),
    "It rains.</think>Rain.": ("It rains.", "Rain."),
    "It rains.\n</think>\n\nRain.": ("It rains.\n", "Rain."),
    "</think>Rain.": ("", "Rain."),
    "</think>": ("", ""),
    "</thinking>\nRain.": ("", "Rain."),
    "<think>a</think>b</think>c": ("a", "b</think>c"),
    "It rains.</think><think>more</think>Rain.": ("It rains.more", "Rain."),
    "a < b, [c] and <b>d</b>": ("", "a < b, [c] and <b>d</b>"),
}


@pytest.mark.parametrize("reply", CASES)
def test_thought_is_parted_from_text(reply: str) -> None:
    assert split(reply) == CASES[reply]


@pytest.mark.parametrize("reply", CASES)
def test_thought_is_parted_the_same_way_one_character_at_a_time(reply: str) -> None:
    assert split(*reply) == CASES[reply]


def test_text_leaves_at_once_unless_it_may_become_a_tag() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("Rain").text == "Rain"
    assert splitter.feed(" in a <b").text == " in a <b"
    assert splitter.feed(" </th").text == " "
    assert splitter.feed("e").text == "</the"


def test_thought_leaves_at_once() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("<think>It").reasoning == "It"
    assert splitter.feed(" rains </").reasoning == " rains "
    assert splitter.feed("b>").reasoning == "</b>"


PIECES = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            "<thinking>",
            "</thinking>",
            "[THINK]",
            "[/think]",
            "a",
            " ",
            "\n",
            "<",
            "`",
            "</th",
            "ink>",
        ]
    ),
    max_size=14,
)


@given(PIECES)
def test_the_split_does_not_depend_on_the_cuts(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert split(*pieces) == split(whole) == split(*whole)


@given(PIECES)
def test_no_letter_is_lost(pieces: list[str]) -> None:
    thought, text = split(*pieces)
    assert (thought + text).count("a") == pieces.count("a")


def test_a_long_reply_takes_linear_time() -> None:
    started = time.process_time()
    for piece in ("<", "<think>", "</think", "x"):
        split(*([piece] * 100_000))
    assert time.process_time() - started < 5

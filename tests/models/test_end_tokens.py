"""Tokens that end a turn, left in the text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.end_tokens import EndTokens


def read(*pieces: str) -> str:
    ends = EndTokens()
    return "".join(map(ends.feed, pieces)) + ends.finish()


@pytest.mark.parametrize(
    "token",
    ["<|im_end|>", "<|eot_id|>", "<end_of_turn>", "</s>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<|observation|>"],
)
def test_a_token_at_the_end_is_no_text(token: str) -> None:
    for reply in (f"42{token}", f"42{token}\n", f"42{token}{token}"):
        assert read(reply) == read(*reply) == "42"


def test_an_invented_turn_goes_with_it() -> None:
    reply = "42<|im_end|>\n<|im_start|>user\nAnd what else?<|im_end|>"
    assert read(reply) == read(*reply) == "42"


@pytest.mark.parametrize(
    "text",
    [
        "`<|im_end|>` ends a turn.",
        "A turn ends with <|im_end|>, and then the next begins.",
        "<s>struck</s>",
        "a <b",
        "a < b",
        "<|im_en",
        "<|im_start|>user",
        "</s>" + " " * 400 + "a",
    ],
)
def test_other_text_passes_unchanged(text: str) -> None:
    assert read(text) == read(*text) == text


@given(
    st.lists(
        st.sampled_from(["<|im_end|>", "</s>", "<s>", "<|im_start|>", "a", " ", "\n" * 100, "<", "</"]), max_size=9
    )
)
def test_nothing_depends_on_the_cuts(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert read(whole) == read(*whole) == read(*pieces)


@pytest.mark.parametrize("piece", ["<", "</s>", "<|im_end|>", "<|im_end|>\n", "<|im_", "</s> "])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    started = time.process_time()
    read(*text)
    assert time.process_time() - started < 15

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from enfilade_cot.events import Answer, Dropped, Thought, joined
from enfilade_cot.labels import CHINESE, ENGLISH
from enfilade_cot.parser import MIN_OBJECT
from tests.chain_of_thought.invariants import Setting, check, parse
from tests.chain_of_thought.replies import CALLS, LABELS, NAMES, OBJECTS, PIECES, random_reply

PARTS = st.one_of(*(st.sampled_from(group) for group in (LABELS, NAMES, CALLS, OBJECTS, PIECES)), st.text(max_size=5))
REPLIES = st.lists(PARTS, max_size=20).map("".join)


@settings(max_examples=500, deadline=None)
@given(REPLIES, st.integers(), st.booleans())
@example("", 0, False)
@example("\ud800Action: search[\ud83d]", 0, False)
@example("Action: search\nAction Input: {\n", 1, True)
def test_any_reply_gives_the_same_events_however_it_is_cut(text: str, seed: int, cut: bool) -> None:
    check(text, random.Random(seed), Setting(cut=cut, max_object=MIN_OBJECT))


@pytest.mark.parametrize("block", range(10))
def test_three_thousand_generated_replies_hold_all_invariants(block: int) -> None:
    for seed in range(block * 300, block * 300 + 300):
        rng = random.Random(seed)
        labels = ENGLISH + CHINESE if seed % 7 == 0 else ENGLISH
        check(random_reply(rng), rng, Setting(cut=seed % 3 == 0, labels=labels, thinking=seed % 11 == 0))


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(exclude_characters=":\uff1a\ufe55\ufe13<{[`~")), st.integers())
def test_text_without_structure_is_thought_character_by_character(text: str, seed: int) -> None:
    plain = text.replace("inal", "")  # not a "Final Answer" on a line of its own
    assert "".join(e.text for e in check(plain, random.Random(seed)) if isinstance(e, Thought)) == plain


@settings(max_examples=150, deadline=None)
@given(REPLIES)
def test_everything_behind_the_answer_label_is_the_answer(text: str) -> None:
    events = joined(parse("Thought: a\nFinal Answer: is " + text))
    assert events[1:] == [Answer(("is " + text).rstrip(" \t\n\r\x0b\x0c\x85\u00a0\u200b\u2028\ufeff"))]


@settings(max_examples=150, deadline=None)
@given(REPLIES)
def test_nothing_behind_a_complete_action_counts(text: str) -> None:
    events = joined(parse('Action: {"action": "search", "action_input": "x"}\n' + text))
    assert {type(e) for e in events[1:]} <= {Dropped}


def test_an_object_above_the_limit_is_an_error_where_it_must_be_an_action() -> None:
    big = '{"action": "search", "action_input": "' + "x" * 5000 + '"}'
    kinds = [type(e).__name__ for e in check("Action: " + big, random.Random(1), Setting(max_object=MIN_OBJECT))]
    assert kinds == ["ParseError", "Dropped"]


def test_an_object_above_the_limit_is_text_where_it_need_not_be_an_action() -> None:
    big = '{"action": "search", "action_input": "' + "x" * 5000 + '"}'
    assert check(big, random.Random(1), Setting(max_object=MIN_OBJECT)) == [Thought(big)]


def test_an_answer_in_an_object_has_no_limit() -> None:
    big = '{"action": "Final Answer", "action_input": "' + "x" * 9000 + '"}'
    assert check(big, random.Random(1), Setting(max_object=MIN_OBJECT)) == [Answer("x" * 9000)]


@pytest.mark.parametrize(
    "start",
    ["```\nThought: ", "Action: search\nAction Input: ", "Action: search(", 'Action: search\nAction Input: {"a": "'],
)
def test_what_is_held_never_grows_beyond_the_limit(start: str) -> None:
    text = start + "some words and a line\n" * 1000
    assert check(text, random.Random(1), Setting(max_object=MIN_OBJECT))

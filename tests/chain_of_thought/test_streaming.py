"""When text leaves."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enfilade_cot.events import Action, Answer, Dropped, Event, ParseError, Thought, joined
from enfilade_cot.parser import Parser
from enfilade_cot.spacing import WHITE
from tests.chain_of_thought.invariants import parse

TOOLS = ("search",)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def said(events: list[Event]) -> str:
    return "".join(e.text for e in events if isinstance(e, Thought | Answer))


def after(text: str) -> str:
    """What was said once the last character of `text` was fed, and not before the end."""
    parser = Parser(TOOLS)
    return said([event for character in text for event in parser.feed(character)])


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("T", ""),
        ("Tho", ""),
        ("The", "The"),
        ("Thoug", ""),
        ("Thought: I", "I"),
        ("Thought: I need", "I need"),
        ("so\nAct", "so\n"),
        ("so\nActs", "so\nActs"),
        ("so\nAction/", "so\nAction/"),
        ("so\nFinal Answ", "so\n"),
        ("so\nFinal Answers", "so\nFinal Answers"),
        ("so\n**", "so\n"),
        ("so\n**b", "so\n**b"),
        ("so\n1. ", "so\n"),
        ("so\n1. b", "so\n1. b"),
        ("so\n  ", "so\n"),
        ("so\n  x", "so\n  x"),
        ("so\n``", "so\n"),
        ("so\n``x", "so\n``x"),
        ("a <thi", "a <thi"),
        ("a </thi", "a "),
        ("a </this", "a </this"),
        ("a {", "a "),
        ("a {x", "a {x"),
        ('a {"x', 'a {"x'),
        ('{"title": "x', '{"title": "x'),
        ("```echarts\n{", "```echarts\n{"),
        ("Final Answer: It", "It"),
        ("Final Answer: It is ", "It is"),
        ("Final Answer: It is 4", "It is 4"),
        ("Final Answer: {", ""),
        ('Final Answer: {"a":', '{"a":'),
        ("Final Answer: ```json\n{", "```json\n{"),
    ],
)
def test_text_leaves_as_soon_as_it_cannot_be_a_label(text: str, out: str) -> None:
    assert after(text) == out


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ('Action: {"action": "Final Answer", "action_input": "', ""),
        ('Action: {"action": "Final Answer", "action_input": "N', "N"),
        ('Action: {"action": "Final Answer", "action_input": "North', "North"),
        ('Action: {"action": "Final Answer", "action_input": "a\\', "a"),
        ('Action: {"action": "Final Answer", "action_input": "a\\n', "a"),
        ('Action: {"action": "Final Answer", "action_input": "a\\nb', "a\nb"),
        ('Action: {"action": "Final Answer", "action_input": "\\u00e', ""),
        ('Action: {"action": "Final Answer", "action_input": "\\u00e9', "\u00e9"),
        ('Action: {"action": "Final Answer", "action_input": "\\ud83d\\ude0', ""),
        ('Action: {"action": "Final Answer", "action_input": "\\ud83d\\ude00', "\U0001f600"),
        ('Action: {"action": "Final Answer", "action_input": "a"', "a"),
        ('Action: {"action": "Final Answer", "action_input": "a"}', "a"),
        ('Action: {"action_input": "a", "action": "Final Ans', ""),
        ('Action: {"tool_call": {"name": "final_answer", "arguments": "a', "a"),
        ('{"action": "Final Answer", "action_input": "a', "a"),
        ('{"final_answer": "a', "a"),
        ('```json\n{"action": "Final Answer", "action_input": "a', "a"),
        ('Final Answer: {"action": "Final Answer", "action_input": "a', "a"),
        ('Action: {"action": "search", "action_input": "a', ""),
        ('{"action": "search", "action_input": "a', ""),
    ],
)
def test_an_answer_inside_an_object_streams_out_while_it_is_written(text: str, out: str) -> None:
    assert after(text) == out


@settings(max_examples=150, deadline=None)
@given(st.text(), st.booleans())
def test_an_answer_comes_out_of_its_object_as_it_went_in(text: str, ascii_only: bool) -> None:
    text = text.encode("utf-8", "replace").decode()
    reply = "Action: " + json.dumps({"action": "Final Answer", "action_input": text}, ensure_ascii=ascii_only)
    assert joined(parse(reply, reply)) == [Answer(text.strip(WHITE))]


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_any_json_input_reaches_the_tool_as_it_is(value: object) -> None:
    plain = json.loads(json.dumps(value).encode("utf-8", "replace"))
    reply = 'Action: {"action": "search", "action_input": ' + json.dumps({"value": plain}) + "} and then"
    events = [e for e in parse(reply, reply) if isinstance(e, Action | ParseError)]
    assert [e.input if isinstance(e, Action) else e for e in events] == [{"value": plain}]


def test_an_action_leaves_when_its_object_is_complete() -> None:
    parser = Parser(TOOLS)
    events = [e for c in 'Action: {"action": "search", "action_input": "x"}' for e in parser.feed(c)]
    assert [type(e) for e in events] == [Action]


def test_feeding_after_the_end_drops() -> None:
    parser = Parser(TOOLS)
    parser.feed("a")
    parser.finish()
    assert parser.feed("b") == [Dropped("b")]
    assert parser.finish() == []

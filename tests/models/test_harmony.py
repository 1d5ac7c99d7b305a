"""Replies of gpt-oss models that a server handed on unread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.assembly import ReplyAssembly
from enfilade_sdk.markup.kinds import ALL_MARKUPS
from enfilade_sdk.prompts import PromptTool

TOOLS = (PromptTool(name="tide", description="", parameters={"type": "object", "properties": {}}),)
THOUGHT = "<|channel|>analysis<|message|>I ask.<|end|>"
CALL = '<|start|>assistant<|channel|>commentary to=functions.tide <|constrain|>json<|message|>{"port": "Oban"}'
ANSWER = "<|start|>assistant<|channel|>final<|message|>High at 06:10."


def read(*pieces: str, finish: str = "stop") -> tuple[str, str, list[tuple[str, str]]]:
    """Text, thought and calls."""
    assembly = ReplyAssembly(tools=TOOLS, markups=ALL_MARKUPS)
    for piece in pieces:
        assembly.feed({"choices": [{"index": 0, "delta": {"content": piece}}]})
    assembly.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    assembly.end()
    message = assembly.message()
    calls = [(call.name, call.arguments if call.error is None else call.error) for call in message.tool_calls]
    return message.content or "", message.reasoning or "", calls


@pytest.mark.parametrize("end", ["", "<|call|>"])
def test_a_message_with_a_recipient_is_a_call(end: str) -> None:
    expected = ("", "I ask.", [("tide", '{"port": "Oban"}')])
    assert read(THOUGHT + CALL + end) == read(*(THOUGHT + CALL + end)) == expected


def test_the_recipient_may_stand_beside_the_role() -> None:
    reply = '<|start|>assistant to=functions.tide<|channel|>commentary<|message|>{"port": "Oban"}<|call|>'
    assert read(reply) == ("", "", [("tide", '{"port": "Oban"}')])


@pytest.mark.parametrize("end", ["", "<|return|>"])
def test_the_final_channel_is_the_text(end: str) -> None:
    assert read(*(THOUGHT + ANSWER + end)) == ("High at 06:10.", "I ask.", [])


def test_commentary_without_a_recipient_is_text() -> None:
    reply = "<|channel|>commentary<|message|>I look. <|end|>" + CALL
    assert read(*reply) == ("I look. ", "", [("tide", '{"port": "Oban"}')])


def test_half_a_call_is_never_run() -> None:
    ((name, error),) = read(THOUGHT + CALL[:-4], finish="length")[2]
    assert name == "tide"
    assert "cut off" in error


def test_text_flows_out_as_it_comes() -> None:
    assembly = ReplyAssembly()
    pieces = [*THOUGHT, *ANSWER]
    news = [assembly.feed({"choices": [{"index": 0, "delta": {"content": piece}}]}) for piece in pieces]
    assert [chunk.text for chunk in news if chunk and chunk.text] == list("High at 06:10.")


@pytest.mark.parametrize(
    "text", ["The token <|channel|> names one.", "<|start is none", "<", "<|channel|> " + "x" * 500, " <|chan"]
)
def test_other_text_passes_unchanged(text: str) -> None:
    assert "".join(read(text)[:2]).strip() in (text, text.strip())


PIECES = st.lists(
    st.sampled_from([THOUGHT, CALL, ANSWER, "<|call|>", "<|end|>", "<|start|>", "<", "a", " ", "<|message|>"])
)


@given(PIECES)
def test_nothing_depends_on_the_cuts(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert read(whole) == read(*whole) == read(*pieces)

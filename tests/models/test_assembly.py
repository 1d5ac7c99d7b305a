"""Whole replies put together from chunks, however loosely a server keeps to the form."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.assembly import REPLY_LIMIT, ReplyAssembly, ReplyTooLongError
from enfilade_sdk.markup.kinds import ALL_MARKUPS
from enfilade_sdk.prompts import AssistantMessage, ModelChunk, PromptTool, Usage
from tests.support.model_turns import chunk

WEATHER = PromptTool(
    name="weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
)
MARKED = '<tool_call>{"name": "weather", "arguments": {"city": "Oban"}}</tool_call>'
CALL = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": '{"city": "Oban"}'}}


class Reply:
    """A reply and all that was shown of it."""

    def __init__(
        self, *events: dict[str, Any], tools: Sequence[PromptTool] = (WEATHER,), known: Sequence[str] = ()
    ) -> None:
        self.assembly = ReplyAssembly(tools=tools, known=known, markups=ALL_MARKUPS)
        chunks = [self._take(event) for event in events] + [self.assembly.end()]
        self.chunks: list[ModelChunk] = [each for each in chunks if each is not None]
        self.message: AssistantMessage = self.assembly.message()

    def _take(self, event: dict[str, Any]) -> ModelChunk | None:
        return ModelChunk(text) if (text := self.assembly.flow(event)) else self.assembly.feed(event)

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(call.name, call.parsed) for call in self.message.tool_calls]

    @property
    def shown(self) -> str:
        return "".join(each.text for each in self.chunks)

    @property
    def thought(self) -> str:
        return "".join(each.reasoning for each in self.chunks)


def said(*deltas: Any, finish: str | None = "stop", **more: Any) -> Reply:
    return Reply(*(chunk(delta) for delta in deltas), chunk({}, finish), **more)


def whole(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def test_text_is_shown_as_it_comes_and_is_the_content() -> None:
    reply = said({"role": "assistant", "content": ""}, {"content": "Hello "}, {"content": "there."})
    assert [each.text for each in reply.chunks] == ["Hello ", "there."]
    assert reply.message == AssistantMessage(content="Hello there.")
    assert reply.assembly.finish_reason == "stop"


@pytest.mark.parametrize(
    "noise",
    [
        {"choices": []},
        {"choices": None},
        {},
        {"choices": [], "prompt_filter_results": [{}]},
        chunk(None),
        chunk({}),
        chunk({"content": None}),
        chunk({"content": "", "tool_calls": []}),
        chunk({"content": None, "tool_calls": None, "function_call": None, "reasoning_content": None, "refusal": None}),
        {"choices": [{"index": 0}]},
        {"choices": [None, "x"]},
        {"choices": [{"index": 0, "delta": "x"}]},
    ],
)
def test_chunks_that_hold_nothing_are_nothing(noise: dict[str, Any]) -> None:
    reply = Reply(
        noise, chunk({"content": "Hello "}), noise, chunk({"content": "there."}), noise, chunk(None, "stop"), noise
    )
    assert reply.message.content == "Hello there."
    assert [each.text for each in reply.chunks] == ["Hello ", "there."]


def test_the_finish_reason_may_come_with_the_last_content() -> None:
    reply = Reply(chunk({"content": "Rain"}), chunk({"content": "."}, "stop"))
    assert reply.message.content == "Rain."


def test_only_the_choice_that_came_first_is_taken() -> None:
    reply = Reply({"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]})
    assert reply.message.content == "a"


def test_the_index_of_a_choice_may_be_a_text_or_a_number() -> None:
    events = [{"choices": [{"index": index, "delta": {"content": text}}]} for index, text in (("0", "Ra"), (0, "in."))]
    assert Reply(*events).message.content == "Rain."


def test_choices_without_an_index_are_all_the_same_choice() -> None:
    reply = Reply({"choices": [{"delta": {"content": "a"}}, {"delta": {"tool_calls": [CALL]}}]})
    assert (reply.message.content, reply.calls) == ("a", [("weather", {"city": "Oban"})])


def test_a_choice_that_is_no_list_is_taken() -> None:
    assert Reply({"choices": {"delta": {"content": "a"}}}).message.content == "a"


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "Rain."}],
        ["Rain", "."],
        {"type": "text", "text": "Rain."},
        [{"type": "output_text", "text": "Rain."}, None, {"type": "image_url"}],
    ],
)
def test_content_in_parts_is_read(content: Any) -> None:
    assert said({"content": content}).message.content == "Rain."


def test_a_number_that_is_content_is_not_lost() -> None:
    assert said({"content": "4"}, {"content": 7}, {"content": [1, {"text": 1.5}]}).message.content == "4711.5"


def test_thought_among_the_parts_of_content_is_thought() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Rain."}]
    reply = said({"content": parts})
    assert (reply.message.content, reply.message.reasoning) == ("Rain.", "Hm.")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reasoning_content", "Hm."),
        ("reasoning", "Hm."),
        ("reasoning", {"content": "Hm."}),
        (
            "reasoning_details",
            [{"type": "reasoning.text", "text": "Hm."}, {"type": "reasoning.encrypted", "data": "x"}],
        ),
        ("thinking", "Hm."),
    ],
)
def test_thought_is_found_in_each_field_and_the_field_is_remembered(field: str, value: Any) -> None:
    reply = said({field: value}, {"content": "Rain."})
    assert (reply.message.content, reply.message.reasoning) == ("Rain.", "Hm.")
    assert (reply.shown, reply.thought) == ("Rain.", "Hm.")
    assert reply.assembly.reasoning_field == field


def test_thought_sent_in_two_fields_is_taken_once() -> None:
    reply = said({"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}], "content": ""})
    assert (reply.message.reasoning, reply.message.content) == ("Hm.", None)


def test_think_blocks_are_thought_and_have_no_field() -> None:
    reply = said({"content": "<thi"}, {"content": "nk>Hm.</th"}, {"content": "ink>\n\nRain."})
    assert (reply.message.content, reply.message.reasoning) == ("Rain.", "Hm.")
    assert (reply.shown, reply.thought) == ("Rain.", "Hm.")
    assert reply.assembly.reasoning_field == ""


def test_text_before_a_closing_tag_that_nobody_opened_is_thought() -> None:
    reply = said({"content": "I look."}, {"content": "</think>"}, {"content": "Rain."})
    assert (reply.message.content, reply.message.reasoning) == ("Rain.", "I look.")


def test_what_follows_the_last_closing_tag_of_an_unclosed_nest_is_the_answer() -> None:
    reply = said({"content": "<think>Use <think> tags.</think>Rain."})
    assert (reply.message.content, reply.message.reasoning) == ("Rain.", "Use <think> tags.</think>")
    assert reply.shown == "Rain."


def test_calls_in_text_that_turned_out_to_be_thought_are_not_run() -> None:
    reply = said({"content": f"Perhaps {MARKED}"}, {"content": "</think>Rain."})
    assert (reply.message.content, reply.calls) == ("Rain.", [])


def test_a_refusal_is_shown() -> None:
    assert said({"refusal": "I will not."}).message.content == "I will not."


def test_text_and_calls_and_text_again_are_all_kept() -> None:
    reply = said({"content": "I look. "}, {"tool_calls": [CALL]}, {"content": "Done."}, finish="tool_calls")
    assert (reply.message.content, reply.calls) == ("I look. Done.", [("weather", {"city": "Oban"})])


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", None, "end_turn"])
def test_a_call_that_was_streamed_is_a_call_whatever_the_finish_reason_says(finish: str | None) -> None:
    reply = said({"tool_calls": [CALL]}, finish=finish)
    assert reply.calls == [("weather", {"city": "Oban"})]
    assert reply.assembly.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("tool_calls", "stop"),
        ("function_call", "stop"),
        (None, "stop"),
        ("end_turn", "end_turn"),
        ("length", "length"),
        ("max_tokens", "length"),
    ],
)
def test_the_finish_reason_of_a_text_agrees_with_what_came(finish: str | None, expected: str) -> None:
    assert said({"content": "Rain."}, finish=finish).assembly.finish_reason == expected


@pytest.mark.parametrize("finish", ["length", "content_filter", "max_tokens"])
@pytest.mark.parametrize("arguments", ["", '{"ci', '{"city": "Ob"'])
def test_half_a_call_of_a_reply_that_was_cut_is_not_run(finish: str, arguments: str) -> None:
    reply = said(
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "weather", "arguments": arguments}}]},
        finish=finish,
    )
    (call,) = reply.message.tool_calls
    assert call.parsed is None
    assert call.arguments == "{}"
    assert call.error is not None
    assert "cut off" in call.error


def test_a_legacy_function_call_is_a_call() -> None:
    reply = said(
        {"function_call": {"name": "weather", "arguments": '{"city": '}}, {"function_call": {"arguments": '"Oban"}'}}
    )
    assert reply.calls == [("weather", {"city": "Oban"})]


def test_a_whole_message_where_deltas_were_due_is_the_reply() -> None:
    reply = Reply(whole({"role": "assistant", "content": "Rain.", "reasoning_content": "Hm.", "tool_calls": [CALL]}))
    assert (reply.message.content, reply.message.reasoning) == ("Rain.", "Hm.")
    assert reply.calls == [("weather", {"city": "Oban"})]
    assert reply.assembly.reasoning_field == "reasoning_content"


def test_a_whole_message_after_the_deltas_repeats_nothing() -> None:
    message = {"content": "Rain today.", "reasoning_content": "Hm.", "tool_calls": [CALL]}
    deltas: list[dict[str, Any]] = [
        {"reasoning_content": "Hm."},
        {"content": "Rain "},
        {"content": "today."},
        {"tool_calls": [CALL]},
    ]
    reply = Reply(*(chunk(delta) for delta in deltas), whole(message))
    assert (reply.message.content, reply.message.reasoning) == ("Rain today.", "Hm.")
    assert (reply.shown, reply.calls) == ("Rain today.", [("weather", {"city": "Oban"})])


def test_a_whole_message_after_deltas_of_thought_brings_the_text() -> None:
    assert Reply(chunk({"reasoning_content": "Hm."}), whole({"content": "Rain."})).message.content == "Rain."


def test_growing_messages_are_snapshots() -> None:
    reply = Reply(*(whole({"content": text}, None) for text in ("Ra", "Rain to", "Rain today.")))
    assert (reply.message.content, reply.shown) == ("Rain today.", "Rain today.")


def test_messages_that_do_not_grow_are_pieces() -> None:
    assert Reply(*(whole({"content": text}, None) for text in ("Rain ", "today."))).message.content == "Rain today."


def test_the_completions_form_is_read() -> None:
    reply = Reply({"choices": [{"index": 0, "text": "Ra"}]}, {"choices": [{"text": "in.", "finish_reason": "stop"}]})
    assert (reply.message.content, reply.assembly.is_finished) == ("Rain.", True)


def test_a_call_written_as_text_is_a_call_and_not_shown() -> None:
    reply = said({"content": "<tool"}, {"content": MARKED[5:40]}, {"content": MARKED[40:]})
    assert (reply.message.content, reply.shown) == (None, "")
    assert reply.calls == [("weather", {"city": "Oban"})]
    assert [delta.name for each in reply.chunks for delta in each.tool_calls] == ["weather"]
    assert reply.assembly.finish_reason == "tool_calls"


def test_a_call_sent_both_ways_is_one_call() -> None:
    reply = said({"content": MARKED}, {"tool_calls": [CALL]})
    assert reply.calls == [("weather", {"city": "Oban"})]


def test_a_call_written_as_text_when_tools_were_taken_away_is_still_a_call() -> None:
    reply = said({"content": MARKED}, tools=(), known=("weather",))
    assert (reply.message.content, reply.calls) == (None, [("weather", {"city": "Oban"})])


def test_markup_of_tools_that_nobody_knows_is_text() -> None:
    assert said({"content": MARKED}, tools=()).message.content == MARKED


def test_markup_cut_off_by_the_length_is_a_broken_call_and_not_an_answer() -> None:
    reply = said({"content": MARKED[:50]}, finish="length")
    assert (reply.message.content, reply.shown) == (None, "")
    (call,) = reply.message.tool_calls
    assert (call.name, call.parsed) == ("weather", None)
    assert call.error is not None
    assert "cut off" in call.error


def test_halves_of_a_character_in_two_deltas_meet() -> None:
    reply = said(
        {"content": "a \ud83d"}, {"content": "\ude00 b"}, {"reasoning_content": "\ud83d"}, {"content": "\ud83d"}
    )
    assert reply.message.content == "a \U0001f600 b\ufffd"
    assert reply.shown == reply.message.content
    assert reply.message.reasoning == "\ufffd"


def test_usage_counts_are_running_totals_and_the_last_wins() -> None:
    usages = [{"prompt_tokens": 150, "completion_tokens": n, "total_tokens": 150 + n} for n in (1, 2)]
    reply = Reply(*(chunk({"content": "x"}, usage=usage) for usage in usages), chunk({}, "stop", usage=None))
    assert reply.assembly.usage == Usage(prompt_tokens=150, completion_tokens=2, total_tokens=152)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({}, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage()),
        ({"prompt_tokens": 12, "completion_tokens": 3}, Usage(prompt_tokens=12, completion_tokens=3, total_tokens=15)),
        ({"prompt_tokens": "12", "total_tokens": 15.0}, Usage(prompt_tokens=12, total_tokens=15)),
        ({"input_tokens": 12, "output_tokens": 3}, Usage(prompt_tokens=12, completion_tokens=3, total_tokens=15)),
        ({"prompt_tokens": -1, "completion_tokens": True, "total_tokens": 7}, Usage(total_tokens=7)),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10,
             "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 1}},
            Usage(prompt_tokens=9, completion_tokens=1, total_tokens=10, cached_tokens=4, reasoning_tokens=1),
        ),
    ],
)  # fmt: skip
def test_usage_is_what_was_reported_and_unknown_otherwise(usage: Any, expected: Usage) -> None:
    assert Reply(chunk({"content": "x"}), {"choices": [], "usage": usage}).assembly.usage == expected
    assert Reply({"choices": [{"delta": {"content": "x"}, "usage": usage}]}).assembly.usage == expected


def test_a_report_of_nothing_takes_no_count_away() -> None:
    first = chunk({"content": "x"}, usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10})
    for last in ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, {"input_tokens": 0}):
        reply = Reply(first, chunk({}, "stop", usage=last))
        assert reply.assembly.usage == Usage(prompt_tokens=9, completion_tokens=1, total_tokens=10)


def test_usage_is_found_where_groq_puts_it() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    reply = Reply(chunk({"content": "x"}), chunk({}, "stop", x_groq={"id": "r", "usage": usage}))
    assert reply.assembly.usage == Usage(prompt_tokens=9, completion_tokens=1, total_tokens=10)


def test_an_endless_reply_is_refused() -> None:
    assembly = ReplyAssembly()
    piece = "x" * 2**20
    with pytest.raises(ReplyTooLongError, match="more than"):
        for _ in range(REPLY_LIMIT // len(piece) + 1):
            assert assembly.flow(chunk({"content": piece})) or assembly.feed(chunk({"content": piece}))


TEXTS = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            MARKED,
            "Rain ",
            "`",
            "\n",
            "<",
            "{",
            "[",
            "```json\n",
            '{"name": "weather"',
            "é",
            " ",
            "<|im_end|>",
            "<|im_start|>",
            "</s>",
            "<|channel|>final<|message|>",
        ]
    ),
    max_size=8,
)


@given(TEXTS, st.sampled_from(["stop", "length", None]))
def test_the_message_does_not_depend_on_how_its_text_is_cut(texts: list[str], finish: str | None) -> None:
    text = "".join(texts)
    replies = [said(*({"content": piece} for piece in pieces), finish=finish) for pieces in ([text], texts, list(text))]
    first = replies[0]
    for reply in replies:
        assert (reply.message.content, reply.message.reasoning, reply.calls) == (
            first.message.content,
            first.message.reasoning,
            first.calls,
        )


@given(TEXTS)
def test_what_is_shown_joins_to_the_content_unless_text_turned_out_to_be_thought(texts: list[str]) -> None:
    reply = said(*({"content": piece} for piece in texts))
    if reply.shown != (reply.message.content or ""):
        assert "</think>" in "".join(texts) or (reply.calls and reply.shown.isspace())


KEYS = [
    "choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "index", "id", "usage",
    "type", "text", "reasoning", "reasoning_details", "finish_reason", "refusal", "function_call", "model",
    "prompt_tokens",
]  # fmt: skip
LEAVES = st.sampled_from(["", "x", "<think>", MARKED, '{"a": 1}', "weather", "stop", "\ud83d"])
WILD = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=14,
)
EVENTS = st.dictionaries(st.sampled_from(["choices", "usage", "model"]), WILD, max_size=3) | WILD.map(
    lambda delta: {"choices": [{"index": 0, "delta": delta}]}
)


@given(st.lists(EVENTS, max_size=5))
def test_no_chunk_however_odd_raises(events: list[dict[str, Any]]) -> None:
    reply = Reply(*events)
    assert reply.assembly.finish_reason
    json.dumps(reply.message.model_dump(), ensure_ascii=False).encode()  # nothing that cannot be sent on

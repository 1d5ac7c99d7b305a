"""Whole runs of function calling against replies as servers really send them: isolated and in process."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from enfilade.candidate import Isolation
from enfilade.outcome import Status
from enfilade.tools.entry import ToolEntry
from tests.behaviour.harness import Played, Tools, play
from tests.support.model_rules import arguments_are_objects, calls_are_answered, reasoning_is_echoed
from tests.support.model_turns import Call, Turn, call_turn, text_turn

DONE = text_turn("Three ", "are free.")


@pytest.fixture(params=["process", "inprocess"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    chosen: Isolation = request.param
    return chosen


def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "s", "choices": [choice], **more}


def piece(arguments: Any = None, *, name: str | None = None, id: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: A002
    """A delta with one piece of a call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    call = {"type": "function", "function": function, **({"id": id} if id else {}), **more}
    return chunk({"tool_calls": [call]})


def answered(played: Played) -> None:
    assert played.outcome.status is Status.SUCCEEDED, played.outcome.error
    assert played.outcome.answer == "Three are free."


STREAMS: dict[str, list[dict[str, Any]]] = {
    "every parallel call has the index 0": [
        piece('{"pier": "A"}', name="moorings", id="a", index=0),
        piece('{"pier": "B"}', name="moorings", id="b", index=0),
        chunk({}, "tool_calls"),
    ],
    "no call has an index": [
        piece("", name="moorings", id="a"),
        piece('{"pier": '),
        piece('"A"}'),
        piece("", name="moorings", id="b"),
        piece('{"pier": "B"}'),
        chunk({}, "tool_calls"),
    ],
    "the closing delta repeats id and name and has the last arguments": [
        piece('{"pier": "A"}', name="moorings", id="a", index=0),
        piece('{"pier"', name="moorings", id="b", index=1),
        piece(': "B"}', name="moorings", id="b", index=1),
        chunk(None, "tool_calls"),
    ],
    "the name comes in pieces": [
        piece(name="moor", id="a", index=0),
        piece(name="ings", index=0),
        piece('{"pier": "A"}', index=0),
        piece('{"pier": "B"}', name="moorings", id="b", index=1),
        chunk({}, "tool_calls"),
    ],
    "the finish reason says stop": [
        piece('{"pier": "A"}', name="moorings", id="a", index=0),
        piece('{"pier": "B"}', name="moorings", id="b", index=1),
        chunk({}, "stop"),
    ],
    "there is no finish reason": [
        piece('{"pier": "A"}', name="moorings", id="a", index=0),
        piece('{"pier": "B"}', name="moorings", id="b", index=1),
    ],
    "the arguments are objects": [
        piece({"pier": "A"}, name="moorings", id="a", index=0),
        piece({"pier": "B"}, name="moorings", id="b", index=1),
        chunk({}, "tool_calls"),
    ],
    "there are no ids": [
        piece('{"pier": "A"}', name="moorings", index=0),
        piece('{"pier": "B"}', name="moorings", index=1),
        chunk({}, "tool_calls"),
    ],
}


@pytest.mark.parametrize("events", STREAMS.values(), ids=STREAMS.keys())
async def test_two_calls_are_run_however_their_deltas_come(isolation: Isolation, events: list[dict[str, Any]]) -> None:
    rules = [arguments_are_objects, calls_are_answered]
    played = await play([Turn(events=events), DONE], isolation, rules=rules)
    answered(played)
    assert sorted(call[1]["pier"] for call in played.calls) == ["A", "B"]


async def test_honest_repeats_in_the_arguments_are_kept(isolation: Isolation) -> None:
    pieces = ['{"boats": ["tuk', "-tuk", "-tuk", '"], "nights": 1', "00", "00", "}"]
    events = [piece("", name="reserve", id="a", index=0), *(piece(p, index=0) for p in pieces), chunk({}, "tool_calls")]
    played = await play([Turn(events=events), DONE], isolation)
    answered(played)
    assert played.calls[0][1] == {"boats": ["tuk-tuk-tuk"], "nights": 10000, "notes": None, "remark": ""}


async def test_chunks_without_choices_and_with_null_deltas_are_passed_over(isolation: Isolation) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    empty: dict[str, Any] = {"id": "", "choices": []}
    events = [
        empty,
        chunk({"content": "Three "}),
        chunk({"content": "are free."}),
        chunk(None, "stop"),
        {**empty, "usage": usage},
    ]
    played = await play([Turn(events=events)], isolation)
    answered(played)
    assert (played.outcome.usage.prompt_tokens, played.outcome.usage.completion_tokens) == (7, 2)


async def test_running_totals_of_usage_are_not_added_up_and_rounds_are(isolation: Isolation) -> None:
    def used(prompt: int, completion: int) -> dict[str, Any]:
        return {
            "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        }

    first = [piece('{"pier": "A"}', name="moorings", id="a", index=0), chunk({}, "tool_calls", **used(50, 5))]
    second = [
        chunk({"content": "Three "}, **used(70, 1)),
        chunk({"content": "are free."}, **used(70, 3)),
        chunk({}, "stop"),
    ]
    played = await play([Turn(events=first), Turn(events=second)], isolation)
    answered(played)
    assert played.outcome.usage.total_tokens == 128


async def test_usage_that_nobody_reports_is_unknown_and_not_nothing(isolation: Isolation) -> None:
    played = await play([DONE], isolation)
    answered(played)
    assert played.outcome.usage.total_tokens is None


async def test_a_call_written_as_tagged_text_is_run_and_never_shown(isolation: Isolation) -> None:
    text = ["<tool", '_call>{"name": "moorings", "argu', 'ments": {"pier": "A"}}</tool', "_call>"]
    played = await play([Turn(text=text), DONE], isolation)
    answered(played)
    assert played.calls == [("moorings", {"pier": "A"})]
    assert "<tool" not in played.outcome.text


async def test_prose_about_markup_is_shown_as_it_is(isolation: Isolation) -> None:
    prose = 'A call looks like <tool_call>{"name": "x"}</tool_call> in the text.'
    played = await play([text_turn(prose)], isolation)
    assert (played.outcome.answer, played.calls) == (prose, [])


async def test_reasoning_goes_back_with_the_calls_of_its_turn(isolation: Isolation) -> None:
    first = Turn(reasoning=["Better ", "look."], calls=(Call("moorings", {"pier": "A"}),))
    played = await play([first, DONE], isolation, rules=[reasoning_is_echoed("Better look.")])
    answered(played)
    assert played.outcome.reasoning == "Better look."


@pytest.mark.parametrize(
    "pieces",
    [["Better ", "look.\n", "</th", "ink>\nThree ", "are free."], ["Better look.\n</think>Three are free."]],
)
async def test_thought_that_nobody_opened_is_no_part_of_the_answer_when_it_turns_out_as_such(
    isolation: Isolation, pieces: list[str]
) -> None:
    played = await play([text_turn(*pieces)], isolation)
    answered(played)
    assert played.outcome.text == "Three are free."
    assert played.outcome.reasoning == "Better look.\n"
    again = await play([text_turn("Better ", "look.", "</think>"), text_turn(*pieces)], isolation)
    assert again.outcome.answer == "Three are free."


async def test_rounds_that_share_a_call_id_are_both_run(isolation: Isolation) -> None:
    turns = [call_turn("moorings", {"pier": pier}, id="same") for pier in "AB"]
    played = await play([*turns, DONE], isolation, rules=[calls_are_answered])
    answered(played)
    assert [call[1]["pier"] for call in played.calls] == ["A", "B"]


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (
            Turn(events=[chunk({"content": "Three "}), {"error": {"message": "the pump is flooded", "code": 529}}]),
            "flooded",
        ),
        (Turn(events=[chunk({"content": "Three "})], end="cut", done=False), "broke"),
        (Turn(events=[chunk({"content": "Three "}), "<html>bad gateway</html>"]), ""),
        (Turn(status=401, body={"error": {"message": "who are you?"}}), "who are you?"),
        (
            Turn(status=500, body="<html><body><h1>Sorry</h1></body></html>", headers={"content-type": "text/html"}),
            "Sorry",
        ),
        (Turn(events=[], done=True), ""),
    ],
    ids=["an error object", "a cut stream", "a chunk that is not JSON", "401", "an HTML page", "nothing at all"],
)
async def test_a_reply_that_breaks_off_fails_and_says_why(isolation: Isolation, turn: Turn, says: str) -> None:
    played = await play([turn, turn], isolation)
    assert played.outcome.status is Status.FAILED
    assert played.outcome.error is not None
    assert played.outcome.error.code.value == "model_failed"
    assert says in played.outcome.error.message


async def test_characters_cut_by_the_network_come_out_whole(isolation: Isolation) -> None:
    body = (
        b"data:" + json.dumps(chunk({"content": "Møring 🛥 \u2028ok\u0085"}), ensure_ascii=False).encode() + b"\r\n\r\n"
    )
    end = b": still here\n\ndata: " + json.dumps(chunk({}, "stop")).encode() + b"\n\ndata: [DONE]\n\n"
    whole = body + end
    parts = [whole[at : at + 3] for at in range(0, len(whole), 3)]
    played = await play([Turn(raw=parts)], isolation)
    assert played.outcome.answer == "Møring 🛥 \u2028ok\u0085"


async def test_parameters_that_the_user_fixed_are_hidden_and_win(isolation: Isolation) -> None:
    recorded = Tools()
    entry = ToolEntry(tool=recorded.depth, fixed={"tide": ""})
    turn = call_turn("depth", {"pier": "A", "tide": "high"})
    played = await play([turn, DONE], isolation, tools=(entry,))
    answered(played)
    assert recorded.calls == [("depth", {"pier": "A", "tide": ""})]
    assert list(played.requests[0]["tools"][0]["function"]["parameters"]["properties"]) == ["pier"]


async def test_arguments_are_read_as_their_schema_means_them(isolation: Isolation) -> None:
    said = {"boats": '["Gull", "Tern"]', "nights": "3", "notes": '{"late": true}', "remark": '["draft"]'}
    played = await play([call_turn("reserve", said), DONE], isolation)
    answered(played)
    given = {"boats": ["Gull", "Tern"], "nights": 3, "notes": {"late": True}, "remark": '["draft"]'}
    assert played.calls == [("reserve", given)]


async def test_an_unknown_tool_and_one_that_fails_are_told_to_the_model(isolation: Isolation) -> None:
    turns = [call_turn("mooring", {"pier": "A"}), call_turn("siren"), DONE]
    played = await play(turns, isolation)
    answered(played)
    results = [message["content"] for message in played.requests[2]["messages"] if message["role"] == "tool"]
    assert "there is not a tool named mooring" in results[0]
    assert "moorings" in results[0]
    assert "the siren is out of order" in results[1]
    assert "Traceback" not in results[1]


def killed() -> bytes:
    """Measures the tide."""
    return subprocess.run(["/bin/sh", "-c", "kill -9 $$"], check=True, capture_output=True).stdout


def cut_text() -> str:
    """Measures the tide."""
    return b"2 caf\xe9s".decode(errors="surrogateescape")


def raw() -> bytes:
    """Measures the tide."""
    return b"\xff\xfe 2 caf\xe9s"


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        (killed, "the tool killed failed: CalledProcessError"),
        (cut_text, "2 caf\ufffds"),
        (raw, "a file (application/octet-stream, 10 bytes) has been given to the user"),
    ],
)
async def test_a_tool_whose_process_is_killed_or_whose_bytes_are_no_text_is_told_to_the_model(
    isolation: Isolation, tool: Callable[[], object], result: str
) -> None:
    rules = [arguments_are_objects, calls_are_answered]
    tools = (ToolEntry(tool=tool),)
    played = await play([call_turn(tool.__name__), DONE], isolation, rules=rules, tools=tools)
    answered(played)
    told = played.requests[1]["messages"][-1]
    assert (told["role"], told["content"][: len(result)]) == ("tool", result)
    assert "Traceback" not in told["content"]


async def test_the_limit_ends_a_model_that_never_answers(isolation: Isolation) -> None:
    played = await play([call_turn("moorings", {"pier": "A"})], isolation, max_iteration=3, repeat_last=True)
    assert played.outcome.error is not None
    assert played.outcome.error.code.value == "max_iterations"
    assert (len(played.requests), len(played.calls)) == (4, 3)
    assert len(played.outcome.rounds) == 4


async def test_markup_in_the_last_round_is_no_answer(isolation: Isolation) -> None:
    markup = text_turn('<tool_call>{"name": "moorings", "arguments": {"pier": "A"}}</tool_call>')
    played = await play([call_turn("moorings", {"pier": "A"}), markup], isolation, max_iteration=1)
    assert played.outcome.status is Status.FAILED
    assert "limit" in (played.outcome.error.message if played.outcome.error else "")
    assert "<tool_call>" not in played.outcome.answer


@pytest.mark.parametrize("empty", [Turn(text=[""]), Turn(reasoning=["Three."]), text_turn("<think>Three.</think>")])
async def test_an_empty_reply_is_asked_again_and_then_is_a_failure(isolation: Isolation, empty: Turn) -> None:
    mended = await play([empty, DONE], isolation)
    answered(mended)
    failed = await play([empty, empty, empty], isolation)
    assert failed.outcome.status is Status.FAILED
    assert "empty" in (failed.outcome.error.message if failed.outcome.error else "")


async def test_arguments_that_were_cut_off_are_not_run(isolation: Isolation) -> None:
    cut = [piece('{"pier": "A', name="moorings", id="a", index=0), chunk({}, "length")]
    played = await play([Turn(events=cut), DONE], isolation, rules=[arguments_are_objects, calls_are_answered])
    answered(played)
    assert played.calls == []

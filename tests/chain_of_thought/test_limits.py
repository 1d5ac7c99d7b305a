"""The fuse of the chain-of-thought loop: three exits."""

from typing import Any

import pytest

from enfilade_cot.strategy import ChainOfThoughtStrategy
from enfilade_sdk.errors import ErrorCode
from enfilade_sdk.testing import ScriptedModel, StrategyRun, run_strategy

LOOK = 'Thought: So far nothing.\nAction: {"action": "look", "action_input": {}}'


def endless(reply: str = LOOK, **params: Any) -> StrategyRun:
    model = ScriptedModel(reply, repeat_last=True)
    return run_strategy(ChainOfThoughtStrategy, "Find it.", model=model, tools={"look": "nothing"}, params=params)


@pytest.mark.parametrize("limit", [0, 1, 2, 4, 99])
def test_there_are_as_many_rounds_with_tools_as_asked_for_and_one_to_answer(limit: int) -> None:
    run = endless(max_iteration=limit)
    assert len(run.requests) == limit + 1
    assert len(run.calls) == limit


@pytest.mark.parametrize(
    "reply", ['Action: {"action": "look"', "Action:", "Thought: a. Action_input: {}", "Action: nowhere", LOOK]
)
def test_rounds_with_unreadable_actions_and_unknown_tools_count_too(reply: str) -> None:
    run = endless(reply, max_iteration=4)
    assert len(run.requests) == 5
    assert run.error is not None
    assert run.error.code is ErrorCode.MAX_ITERATIONS
    assert "limit of 4 rounds" in run.error.message


def test_the_limit_says_what_was_wrong_with_a_last_reply_that_cannot_be_read() -> None:
    run = endless("Action:", max_iteration=1)
    assert run.error is not None
    assert "the action names no tool" in run.error.message


def test_the_last_round_has_no_tools_in_its_prompt_and_keeps_the_work_so_far() -> None:
    run = endless(max_iteration=1)
    first, last = (request.messages for request in run.requests)
    assert '"name": "look"' in str(first[0].content)
    assert '"name": "look"' not in str(last[0].content)
    assert "No tool can be used any more" in str(last[0].content)
    assert "Observation: nothing" in str(last[-1].content)


def test_the_last_round_may_keep_the_prompt_and_say_that_no_tool_may_be_used() -> None:
    run = endless(max_iteration=1, last_round="forbid")
    first, last = (request.messages for request in run.requests)
    assert first[0] == last[0]
    assert "No tool can be used any more" in str(last[-1].content)


def test_on_limit_answer_ends_with_the_thought_and_says_that_the_limit_was_reached() -> None:
    run = endless(max_iteration=1, on_limit="answer").check()
    assert run.answer == "So far nothing.\n\nThe limit of 1 rounds with tools was reached before the work was done."


def test_on_limit_partial_ends_with_the_text_there_is() -> None:
    assert endless(max_iteration=1, on_limit="partial").check().answer == "So far nothing."


@pytest.mark.parametrize("on_limit", ["answer", "partial"])
def test_no_action_is_ever_shown_as_the_answer(on_limit: str) -> None:
    run = endless('{"action": "look", "action_input": {}}', max_iteration=1, on_limit=on_limit)
    assert "look" not in run.check().text


def test_the_last_round_may_answer() -> None:
    run = run_strategy(
        ChainOfThoughtStrategy,
        "Find it.",
        model=[LOOK, "Final Answer: Found."],
        tools={"look": "found"},
        params={"max_iteration": 1},
    ).check()
    assert run.answer == "Found."


@pytest.mark.parametrize("limit", [-1, 100, 2.5, "ten", True])
def test_a_limit_that_is_no_whole_number_from_0_to_99_is_refused_at_the_start(limit: Any) -> None:
    run = endless(max_iteration=limit)
    assert run.error is not None
    assert run.error.code is ErrorCode.INVALID_PARAMS
    assert run.requests == []

"""The fuse of the function-calling loop: three exits."""

from typing import Any

import pytest

from enfilade_fc.strategy import FunctionCallingStrategy
from enfilade_sdk.errors import ErrorCode
from enfilade_sdk.testing import CallOf, ScriptedModel, StrategyRun, Turn, run_strategy


def endless(*, text: str = "", **params: Any) -> StrategyRun:
    model = ScriptedModel(Turn(text, calls=[CallOf("look")]), repeat_last=True)
    return run_strategy(FunctionCallingStrategy, "Find it.", model=model, tools={"look": "nothing"}, params=params)


@pytest.mark.parametrize("limit", [0, 1, 2, 4, 99])
def test_there_are_as_many_rounds_with_tools_as_asked_for_and_one_to_answer(limit: int) -> None:
    run = endless(max_iteration=limit)
    assert len(run.requests) == limit + 1
    assert len(run.calls) == limit


def test_the_last_round_offers_no_tools() -> None:
    run = endless(max_iteration=2)
    assert [bool(request.tools) for request in run.requests] == [True, True, False]


def test_the_last_round_may_offer_them_and_forbid_their_use() -> None:
    run = endless(max_iteration=1, last_round="forbid")
    assert [(bool(r.tools), r.tool_choice) for r in run.requests] == [(True, None), (True, "none")]


def test_a_model_that_still_asks_fails_the_run_with_the_limit_in_the_text() -> None:
    run = endless(max_iteration=3)
    assert run.error is not None
    assert run.error.code is ErrorCode.MAX_ITERATIONS
    assert "limit of 3 rounds" in run.error.message


def test_on_limit_answer_ends_with_the_text_and_says_that_the_limit_was_reached() -> None:
    run = endless(max_iteration=1, on_limit="answer", text="So far nothing.").check()
    assert run.answer.startswith("So far nothing.")
    assert "limit of 1 rounds" in run.answer


def test_on_limit_partial_ends_with_the_text_there_is() -> None:
    assert endless(max_iteration=1, on_limit="partial", text="So far nothing.").check().answer == "So far nothing."


@pytest.mark.parametrize("limit", [-1, 100, 2.5, "ten", True])
def test_a_limit_that_is_no_whole_number_from_0_to_99_is_refused_at_the_start(limit: Any) -> None:
    run = endless(max_iteration=limit)
    assert run.error is not None
    assert run.error.code is ErrorCode.INVALID_PARAMS
    assert "max_iteration" in run.error.message
    assert run.requests == []


def test_seven_rounds_under_a_limit_of_eight_all_run() -> None:
    turns = [CallOf("look", {}, id=f"c{n}") for n in range(7)]
    run = run_strategy(
        FunctionCallingStrategy,
        "Seven look-ups.",
        model=[*turns, "Seven done."],
        tools={"look": "found"},
        params={"max_iteration": 8},
    ).check()
    assert (len(run.calls), run.answer) == (7, "Seven done.")


def test_rounds_with_unknown_tools_and_bad_arguments_count_too() -> None:
    model = ScriptedModel(CallOf("nowhere"), CallOf("look", "{"), repeat_last=True)
    run = run_strategy(
        FunctionCallingStrategy, "?", model=model, tools={"look": "nothing"}, params={"max_iteration": 4}
    )
    assert len(run.requests) == 5
    assert run.error is not None
    assert run.error.code is ErrorCode.MAX_ITERATIONS

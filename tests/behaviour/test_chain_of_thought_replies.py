"""Whole runs of chain of thought against replies as servers really send them."""

from typing import Any

import pytest

from enfilade.candidate import Isolation
from enfilade.outcome import Status
from tests.behaviour.harness import play
from tests.support.model_turns import text_turn

THOUGHT = "I look.\nAction: moorings[B]\nFinal Answer: none\n</think>\n\n"
ACTION = "Thought: so\nAction: moorings\nAction Input: A"
ANSWER = "Final Answer: Three are free."


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
@pytest.mark.parametrize("size", [1, 10, 1000])
@pytest.mark.parametrize("parameters", [{}, {"starts_thinking": True}])
async def test_nothing_in_thought_that_nobody_opened_is_run_or_answered_however_it_comes(
    isolation: Isolation, size: int, parameters: dict[str, Any]
) -> None:
    replies = [THOUGHT + ACTION, THOUGHT.replace("moorings[B]", "depth[B]") + ANSWER]
    turns = [text_turn(*(reply[at : at + size] for at in range(0, len(reply), size))) for reply in replies]
    played = await play(turns, isolation, strategy="chain-of-thought", parameters=parameters)
    assert played.outcome.status is Status.SUCCEEDED, played.outcome.error
    assert played.calls == [("moorings", {"pier": "A"})]
    assert played.outcome.answer == "Three are free."

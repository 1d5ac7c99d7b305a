"""Whole runs through the host against a scripted server: isolated and in process."""

import pytest

from enfilade.agent import AgentConfig
from enfilade.candidate import Isolation
from enfilade.config import Config
from enfilade.host import Host
from enfilade.outcome import Status
from enfilade.tools.entry import ToolEntry
from tests.behaviour.harness import Played, play
from tests.support.model_turns import Turn, text_turn

MOORINGS = text_turn(
    "Thought: I look.\nAct", 'ion: {"action": "moorings", ', '"action_input": {"pier": "A"}}', "\nObservation: none\n"
)
DONE = text_turn("Thought: I know.\nFinal", "Answer", ": Three ", "are free.")


@pytest.fixture(params=["process", "inprocess"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    chosen: Isolation = request.param
    return chosen


async def run(isolation: Isolation, *turns: Turn, max_iteration: int = 5, repeat_last: bool = False) -> Played:
    return await play(
        turns, isolation, strategy="chain-of-thought", max_iteration=max_iteration, repeat_last=repeat_last
    )


async def test_an_action_cut_over_chunks_is_run_and_what_follows_it_is_dropped(isolation: Isolation) -> None:
    played = await run(isolation, MOORINGS, DONE)
    assert played.outcome.status is Status.SUCCEEDED, played.outcome.error
    assert played.outcome.answer == played.outcome.text == "Three are free."
    assert played.calls == [("moorings", {"pier": "A"})]
    assert "none" not in played.outcome.reasoning


async def test_the_request_offers_no_tools_and_tells_the_work_so_far(isolation: Isolation) -> None:
    played = await run(isolation, MOORINGS, DONE)
    assert all("tools" not in request for request in played.requests)
    assert [message["role"] for message in played.requests[1]["messages"]] == ["system", "user", "assistant"]
    assert "Observation: pier A: 3 free" in played.requests[1]["messages"][-1]["content"]
    assert played.requests[0]["stop"] == ["\nObservation:"]


async def test_the_records_of_a_run_hold_each_round_with_its_calls(isolation: Isolation) -> None:
    played = await run(isolation, MOORINGS, text_turn("Action: depth[A]"), DONE)
    rounds = played.outcome.rounds
    assert [[call.tool for call in entry.calls] for entry in rounds] == [["moorings"], ["depth"], []]
    assert rounds[1].calls[0].arguments == {"pier": "A"}
    assert rounds[1].calls[0].result == "2.4 m"


async def test_a_sentence_for_a_tool_with_several_parameters_is_told_what_is_wanted(isolation: Isolation) -> None:
    played = await run(isolation, text_turn("Action: reserve\nAction Input: two boats"), DONE)
    told = played.requests[1]["messages"][-1]["content"]
    assert "boats" in told
    assert "nights" in told
    assert played.calls == []
    assert played.outcome.answer == "Three are free."


async def test_markup_of_a_call_in_the_model_s_own_way_is_run(isolation: Isolation) -> None:
    markup = text_turn('<tool_call>{"name": "moorings", "arguments": ', '{"pier": "A"}}</tool_call>')
    played = await run(isolation, markup, DONE)
    assert played.calls == [("moorings", {"pier": "A"})]
    assert played.outcome.text == "Three are free."


@pytest.mark.parametrize("text", ['Action: {"action": "moorings", "action_input": {"pier": "A"}}', "Action: {"])
async def test_no_more_rounds_than_the_limit_whatever_the_model_says(isolation: Isolation, text: str) -> None:
    played = await run(isolation, text_turn(text), max_iteration=4, repeat_last=True)
    assert len(played.requests) == 5
    assert len(played.calls) <= 4
    assert played.outcome.error is not None
    assert "limit of 4 rounds" in played.outcome.error.message


@pytest.mark.parametrize("strategy", ["function-calling", "chain-of-thought"])
async def test_another_strategy_gives_the_same_answer_on_the_same_model(strategy: str, isolation: Isolation) -> None:
    agent = AgentConfig(strategy=strategy, tools=(ToolEntry(tool="calculator"),))
    async with Host(Config(isolation=isolation)) as host:
        outcome = await host.ask(agent, "What is 12 * 7?", timeout=20)
    assert outcome.status is Status.SUCCEEDED, outcome.error
    assert outcome.answer.startswith("12 * 7 = 84.")
    assert [[call.tool for call in entry.calls] for entry in outcome.rounds] == [["calculator"], []]


async def test_auto_takes_chain_of_thought_for_a_model_that_cannot_call_tools(isolation: Isolation) -> None:
    played = await play([DONE], isolation, strategy="auto", model={"tools": False})
    assert "Action:" in played.requests[0]["messages"][0]["content"]
    assert played.outcome.answer == "Three are free."


async def test_the_tools_of_the_harness_are_all_in_the_prompt(isolation: Isolation) -> None:
    played = await run(isolation, DONE)
    system = played.requests[0]["messages"][0]["content"]
    assert all(f'{{"name": "{name}"' in system for name in ("moorings", "depth", "reserve", "siren", "pause"))

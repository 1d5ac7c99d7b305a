"""The function-calling loop: what goes to the model, what is run, what comes out."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest

from enfilade_fc.strategy import FunctionCallingStrategy
from enfilade_sdk.errors import ErrorCode, ModelFailedError
from enfilade_sdk.invocation import File, ModelInfo
from enfilade_sdk.messages import LogPayload, text_message, url_message
from enfilade_sdk.prompts import AssistantMessage, ModelResult, SystemMessage, ToolCall, ToolMessage, UserMessage
from enfilade_sdk.testing import CallOf, ScriptedModel, StrategyRun, Turn, conformance, run_strategy


@pytest.fixture(params=[False, True], ids=["direct", "over the wire"])
def ask(request: pytest.FixtureRequest) -> Any:
    def run(query: str = "Weather in Oban?", **setup: Any) -> StrategyRun:
        return run_strategy(FunctionCallingStrategy, query, wired=request.param, **setup)

    return run


def weather(city: str) -> str:
    """Tells the weather."""
    return f"rain in {city}"


def test_it_does_what_hosts_rely_on() -> None:
    conformance.check(FunctionCallingStrategy)


def test_a_reply_without_calls_is_the_answer(ask: Any) -> None:
    run = ask(model=["Rain."]).check()
    assert run.answer == "Rain."
    assert len(run.requests) == 1


def test_a_call_is_run_and_its_result_goes_back(ask: Any) -> None:
    run = ask(model=[CallOf("weather", {"city": "Oban"}, id="c1"), "Rain."], tools={"weather": weather}).check()
    question, said, result = run.requests[1].messages
    assert question == UserMessage(content="Weather in Oban?")
    assert isinstance(said, AssistantMessage)
    assert [call.id for call in said.tool_calls] == ["c1"]
    assert result == ToolMessage(tool_call_id="c1", content="rain in Oban", name="weather")
    assert run.answer == "Rain."


def test_the_prompt_only_ever_grows_at_its_end(ask: Any) -> None:
    turns = [Turn("Looking.", calls=[CallOf("weather", {"city": city})]) for city in ("Oban", "Mull", "Iona")]
    run = ask(model=[*turns, "Rain."], tools={"weather": weather}, params={"instruction": "Be brief."}).check()
    prompts = [request.messages for request in run.requests]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(prompts))
    assert prompts[-1].count(SystemMessage(content="Be brief.")) == 1
    assert [len(prompt) for prompt in prompts] == [2, 4, 6, 8]


def test_the_text_said_beside_a_call_goes_back_with_it_and_is_not_the_answer(ask: Any) -> None:
    run = ask(
        model=[Turn("Let me look.", calls=[CallOf("weather", {"city": "Oban"})]), "Rain."], tools={"weather": weather}
    )
    assert run.check().requests[1].messages[1].content == "Let me look."
    assert run.answer == "Rain."
    assert run.text == "Let me look.Rain."


def test_text_goes_out_as_it_arrives(ask: Any) -> None:
    run = ask(model=[["Ra", "in", "."]]).check()
    assert [message.message.text for message in run.of_type("text")] == ["Ra", "in", "."]


def test_instruction_history_and_question_stand_in_this_order(ask: Any) -> None:
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
    run = ask(model=["Rain."], history=history, params={"instruction": "Be brief."}).check()
    assert [message.role for message in run.requests[0].messages] == ["system", "user", "assistant", "user"]


def test_a_system_message_of_the_history_gives_way_to_the_instruction(ask: Any) -> None:
    history = [{"role": "system", "content": "Old."}, {"role": "user", "content": "Hello"}]
    run = ask(model=["Rain."], history=history, params={"instruction": "New."}).check()
    assert [m.content for m in run.requests[0].messages] == ["New.", "Hello", "Weather in Oban?"]


def test_two_calls_of_one_tool_keep_both_results_in_call_order(ask: Any) -> None:
    calls = [CallOf("weather", {"city": "Oban"}, id="a"), CallOf("weather", {"city": "Mull"}, id="b")]
    run = ask(model=[calls, "Rain twice."], tools={"weather": weather}).check()
    assert [(m.tool_call_id, m.content) for m in run.requests[1].messages[2:]] == [
        ("a", "rain in Oban"),
        ("b", "rain in Mull"),
    ]


def test_the_calls_of_a_round_run_at_once_and_answer_in_call_order(ask: Any) -> None:
    everyone_is_here = asyncio.Barrier(3)

    async def meet(name: str) -> str:
        await everyone_is_here.wait()
        return name

    calls = [CallOf("meet", {"name": name}) for name in ("ada", "grace", "joan")]
    run = ask(model=[calls, "All met."], tools={"meet": meet}).check()
    assert [m.content for m in run.requests[1].messages[2:]] == ["ada", "grace", "joan"]


def test_no_more_calls_run_at_once_than_the_setting_allows(ask: Any) -> None:
    running: list[int] = [0, 0]

    async def count() -> str:
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(0)
        running[0] -= 1
        return "counted"

    ask(model=[[CallOf("count")] * 6, "Done."], tools={"count": count}, params={"parallel_tools": 2}).check()
    assert running == [0, 2]


def test_an_unknown_tool_goes_back_to_the_model_with_the_names_there_are(ask: Any) -> None:
    run = ask(
        model=[CallOf("wether"), CallOf("weather", {"city": "Oban"}), "Rain."], tools={"weather": weather}
    ).check()
    refused = run.requests[1].messages[-1]
    assert refused.is_error
    assert "there is not a tool named wether" in refused.content
    assert "weather" in refused.content.replace("wether", "")
    assert run.answer == "Rain."


def test_one_failing_call_loses_no_other_result(ask: Any) -> None:
    def broken() -> str:
        raise ConnectionError("station offline")

    calls = [CallOf("broken"), CallOf("weather", {"city": "Oban"})]
    run = ask(model=[calls, "Rain."], tools={"broken": broken, "weather": weather}).check()
    failed, worked = run.requests[1].messages[2:]
    assert failed.is_error
    assert "station offline" in failed.content
    assert worked.content == "rain in Oban"
    assert [log.status.value for log in run.logs if log.label.startswith("CALL")] == ["error", "success"]


def test_a_call_with_a_half_argument_is_not_run_and_the_model_is_told(ask: Any) -> None:
    run = ask(model=[CallOf("weather", '{"city": "Ob'), "Rain."], tools={"weather": weather}).check()
    assert run.requests[1].messages[-1].is_error
    assert [call for call in run.calls if call.name == "weather"] == []


def test_reasoning_is_kept_apart_and_goes_back_in_the_same_turn(ask: Any) -> None:
    turn = Turn(calls=[CallOf("weather", {"city": "Oban"})], reasoning=["I should ", "ask."])
    run = ask(model=[turn, "Rain."], tools={"weather": weather}).check()
    assert run.reasoning == "I should ask."
    assert "ask" not in run.text
    assert run.requests[1].messages[1].reasoning == "I should ask."


def test_an_empty_reply_is_asked_for_once_more(ask: Any) -> None:
    run = ask(
        model=[CallOf("weather", {"city": "Oban"}), Turn(reasoning="It rains."), "Rain."], tools={"weather": weather}
    )
    assert run.check().answer == "Rain."
    assert run.requests[2].messages[-1].role == "user"


def test_white_space_that_is_all_there_is_to_a_reply_is_not_shown(ask: Any) -> None:
    run = ask(model=[Turn(text=["\n", "  \n"]), Turn(text=["\n", "\n ", "Rain.", " "])])
    assert run.check().text == "\n\n Rain. "


@pytest.mark.parametrize("turn", [Turn(), Turn(text="  \n"), Turn(reasoning="It rains.")])
def test_a_reply_that_stays_empty_fails_and_says_so(ask: Any, turn: Turn) -> None:
    run = ask(model=[turn, turn])
    assert run.error is not None
    assert run.error.code is ErrorCode.MODEL_FAILED
    assert "reply was empty" in run.error.message


def test_a_model_that_fails_fails_the_run_and_keeps_what_was_said(ask: Any) -> None:
    error = ModelFailedError("the endpoint answered 529", details={"status": 529})
    run = ask(model=[Turn("The yard has ", error=error)])
    assert (run.text, run.error.code) == ("The yard has ", ErrorCode.MODEL_FAILED)
    assert run.error.details["status"] == 529


def test_images_go_with_the_question_to_a_model_that_sees(ask: Any) -> None:
    seeing = ScriptedModel("A boat.", info=ModelInfo(name="eye", vision=True))
    picture = File(url="data:image/png;base64,AA==", mime_type="image/png", filename="boat.png")
    question = ask("What is this?", model=seeing, files=[picture]).check().requests[0].messages[-1]
    assert [part.type for part in question.content] == ["text", "image_url"]


def test_files_that_cannot_be_seen_are_named(ask: Any) -> None:
    picture = File(url="data:image/png;base64,AA==", mime_type="image/png", filename="boat.png")
    question = ask("What is this?", model=["?"], files=[picture]).check().requests[0].messages[-1]
    assert "boat.png" in question.content


def test_the_log_tree_has_rounds_thoughts_and_calls(ask: Any) -> None:
    run = ask(model=[CallOf("weather", {"city": "Oban"}), "Rain."], tools={"weather": weather}).check()
    labels = {log.id: log.label for log in run.logs}
    tree = [(log.label, labels.get(log.parent_id or "")) for log in run.logs]
    thought = next(label for label in labels.values() if label.endswith("thought"))
    assert tree == [
        ("ROUND 1", None),
        (thought, "ROUND 1"),
        ("CALL weather", "ROUND 1"),
        ("ROUND 2", None),
        (thought, "ROUND 2"),
    ]
    assert {log.status.value for log in run.logs} == {"success"}
    assert all("seconds" in log.metadata for log in run.logs if not log.label.startswith("ROUND"))


def test_what_a_tool_sends_to_the_user_is_passed_on_but_not_its_text(ask: Any) -> None:
    def draw() -> Any:
        yield text_message("drawn")
        yield url_message("https://pictures.example/boat.png", "image")

    run = ask(model=[CallOf("draw"), "There."], tools={"draw": draw}).check()
    assert [message.message.text for message in run.of_type("image")] == ["https://pictures.example/boat.png"]
    assert run.text == "There."


def test_a_repaired_argument_is_flagged_in_the_log() -> None:
    call = ToolCall(id="c", name="weather", arguments='{"city": "Oban"}', parsed={"city": "Oban"}, repaired=True)

    class Mending(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            async for item in super().stream(request):
                mended = isinstance(item, ModelResult) and item.message.tool_calls
                yield ModelResult(AssistantMessage(tool_calls=(call,))) if mended else item

    run = run_strategy(
        FunctionCallingStrategy,
        "?",
        model=Mending(CallOf("weather", {"city": "Oban"}), "Rain."),
        tools={"weather": weather},
    ).check()
    logs: list[LogPayload] = [log for log in run.logs if log.label == "CALL weather"]
    assert logs[0].metadata["repaired"] is True
    assert json.dumps(logs[0].data["arguments"]) == '{"city": "Oban"}'

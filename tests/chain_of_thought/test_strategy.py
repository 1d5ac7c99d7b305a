"""The loop: what goes to the model, what is run, what comes out."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest

from enfilade_cot.strategy import ChainOfThoughtStrategy
from enfilade_sdk.errors import ErrorCode, ModelFailedError
from enfilade_sdk.invocation import File, ModelInfo
from enfilade_sdk.prompts import AssistantMessage, ImagePart, SystemMessage, TextPart, UserMessage
from enfilade_sdk.testing import CallOf, ScriptedModel, StrategyRun, Turn, conformance, run_strategy
from enfilade_sdk.testing.scripted_tools import ScriptedTool

LOOK = 'Thought: I look.\nAction: {"action": "weather", "action_input": {"city": "Oban"}}'
RAIN = "Thought: I know.\nFinal Answer: Rain."
TWO = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "tag": {"type": "string"}},
    "required": ["amount", "tag"],
}


@pytest.fixture(params=[False, True], ids=["direct", "over the wire"])
def ask(request: pytest.FixtureRequest) -> Any:
    def run(*model: Any, query: str = "Weather in Oban?", **setup: Any) -> StrategyRun:
        setup.setdefault("tools", {"weather": weather})
        return run_strategy(ChainOfThoughtStrategy, query, wired=request.param, model=list(model), **setup)

    return run


def weather(city: str) -> str:
    """Tells the weather."""
    return f"rain in {city}"


def said(run: StrategyRun, request: int) -> str:
    """The work so far, as the model was shown it."""
    last = run.requests[request].messages[-1]
    assert isinstance(last, AssistantMessage)
    return last.content or ""


@pytest.mark.parametrize("examine", conformance.CHECKS)
def test_it_does_what_hosts_rely_on(examine: Any) -> None:
    examine(ChainOfThoughtStrategy)


def test_an_action_is_run_and_its_observation_goes_back(ask: Any) -> None:
    run = ask(LOOK, RAIN).check()
    assert [(call.name, call.arguments) for call in run.calls] == [("weather", {"city": "Oban"})]
    assert said(run, 1) == (
        'Thought: I look.\nAction: {"action": "weather", "action_input": {"city": "Oban"}}\n'
        "Observation: rain in Oban\nThought:"
    )
    assert run.answer == run.text == "Rain."
    assert run.reasoning == "I look.\nI know.\n"


def test_the_prompt_names_tools_schemas_and_format_once_and_only_ever_grows_at_its_end(ask: Any) -> None:
    looks = [LOOK.replace("Oban", city) for city in ("Oban", "Mull", "Iona")]
    run = ask(*looks, RAIN, params={"instruction": "Be brief."}).check()
    systems = [request.messages[0] for request in run.requests]
    assert len(set(map(str, systems))) == 1
    assert isinstance(systems[0], SystemMessage)
    assert systems[0].content.startswith("Be brief.\n\nYou have these tools")
    assert '{"name": "weather", "description": "Tells the weather."' in systems[0].content
    texts = [said(run, number).removesuffix("Thought:") for number in (1, 2, 3)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert all(not request.tools for request in run.requests)


def test_no_reply_without_action_is_asked_for_the_work_so_far(ask: Any) -> None:
    run = ask(RAIN).check()
    assert [message.role for message in run.requests[0].messages] == ["system", "user"]


def test_a_value_in_the_prompt_is_never_filled_in_again(ask: Any) -> None:
    instruction = "Say {{tools}} and {{query}}. An Observation is not an Action: it is seen."
    system = ask(RAIN, params={"instruction": instruction}).check().requests[0].messages[0]
    assert system.content.startswith(instruction)


def test_a_template_of_the_user_takes_the_place_of_ours(ask: Any) -> None:
    template = "{{instruction}} Tools: {{ tool_names }}. {{unknown}}"
    system = ask(RAIN, params={"instruction": "Hi.", "template": template}).check().requests[0].messages[0]
    assert system.content == "Hi. Tools: weather. {{unknown}}"


def test_the_answer_streams_while_it_is_written_even_inside_an_object(ask: Any) -> None:
    run = ask(["Action: {", '"action": "Final Answer", "action_input": "Ra', "in\\", 'n."', "}"]).check()
    texts = [m.message.text for m in run.of_type("text") if not (m.meta or {}).get("reasoning")]
    assert texts == ["Ra", "in", "\n."]


@pytest.mark.parametrize("reply", ["It rains.", "Thought: It rains.", "<think>hm</think>It rains.", "\n It rains.\n"])
def test_a_reply_that_is_all_thought_is_the_answer(ask: Any, reply: str) -> None:
    run = ask(reply).check()
    assert run.answer == "It rains."
    assert len(run.requests) == 1


def test_what_follows_an_action_is_dropped_and_logged(ask: Any) -> None:
    run = ask(LOOK + "\nObservation: sun\nFinal Answer: Sun.", RAIN).check()
    assert run.answer == "Rain."
    assert "un" not in run.text + run.reasoning.replace("I look.", "")
    assert "sun" not in said(run, 1)
    dropped = [log.metadata["dropped"] for log in run.logs if "dropped" in log.metadata]
    assert dropped == ["Observation: sun\nFinal Answer: Sun."]


def test_the_stop_word_is_the_label_with_its_line_break_and_colon(ask: Any) -> None:
    assert ask(RAIN).check().requests[0].stop == ("\nObservation:",)


def test_no_stop_word_goes_to_a_model_that_takes_none() -> None:
    model = ScriptedModel(RAIN, info=ModelInfo(name="m", stop_words=False))
    run = run_strategy(ChainOfThoughtStrategy, "?", model=model, tools={"weather": weather}).check()
    assert run.requests[0].stop == ()


def test_the_actions_of_a_list_run_at_once_and_are_told_in_order(ask: Any) -> None:
    everyone_is_here = asyncio.Barrier(2)

    async def meet(name: str) -> str:
        await everyone_is_here.wait()
        return f"met {name}"

    actions = [{"action": "meet", "action_input": {"name": name}} for name in ("ada", "grace")]
    run = ask(f"Action: {json.dumps(actions)}", RAIN, tools={"meet": meet}).check()
    assert "Observation: [1] meet: met ada\n[2] meet: met grace\n" in said(run, 1)
    assert len({call.call_id for call in run.calls}) == 2


def test_an_unknown_tool_goes_back_to_the_model_with_the_names_there_are(ask: Any) -> None:
    run = ask(LOOK.replace('"weather"', '"wether"'), LOOK, RAIN).check()
    assert "Observation: there is not a tool named wether; there are: weather" in said(run, 1)
    assert run.answer == "Rain."


def test_a_failing_tool_is_an_observation(ask: Any) -> None:
    run = ask(LOOK, RAIN, tools={"weather": ConnectionError("station offline")}).check()
    assert "station offline" in said(run, 1)
    assert run.answer == "Rain."


@pytest.mark.parametrize(
    "reply",
    [
        'Thought: Look it up. Action_input: {"city": "Oban"}',
        'Action: {"action": "weather", "action_input": {"city": "Ob',
        "Thought: so\nAction:",
        "Thought: so\nObservation: sun\nFinal Answer: Sun.",
        "Action Input: Oban",
    ],
)
def test_a_broken_action_goes_back_to_the_model_and_is_logged(ask: Any, reply: str) -> None:
    run = ask(reply, RAIN).check()
    assert "Observation: The reply could not be used: " in said(run, 1)
    errors = [log for log in run.logs if log.label == "FORMAT ERROR"]
    assert [log.status.value for log in errors] == ["error"]
    assert run.calls == []
    assert run.answer == "Rain."


@pytest.mark.parametrize("reply", ['{"action": "weather", "action_input": {"city": "Oban"}', "Thought: I need to lo"])
def test_a_reply_cut_off_by_its_length_is_not_completed_and_run(ask: Any, reply: str) -> None:
    run = ask(Turn(reply, finish_reason="length"), RAIN).check()
    assert run.calls == []
    assert "cut off" in said(run, 1)
    assert run.answer == "Rain."


def test_an_action_cut_off_by_a_filter_is_not_run(ask: Any) -> None:
    run = ask(Turn("Action: weather\nAction Input: Ob", finish_reason="content_filter"), RAIN).check()
    assert (run.calls, run.answer) == ([], "Rain.")
    assert "cut off" in said(run, 1)
    assert ask(Turn("Thought: Rain and", finish_reason="content_filter")).check().answer == "Rain and"


def test_an_answer_that_was_cut_off_is_given_as_far_as_it_came(ask: Any) -> None:
    assert ask(Turn("Final Answer: Rain and", finish_reason="length")).check().answer == "Rain and"


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('"Oban"', {"city": "Oban"}),
        ("5", {"city": 5}),
        ('["a"]', {"city": ["a"]}),
        ('"{\\"city\\": \\"Oban\\"}"', {"city": "Oban"}),
        ('"{\\"town\\": \\"Oban\\"}"', {"city": '{"town": "Oban"}'}),
        ('{"city": "Oban"}', {"city": "Oban"}),
    ],
)
def test_one_parameter_takes_the_input_as_it_is(ask: Any, written: str, arguments: dict[str, Any]) -> None:
    reply = f'Action: {{"action": "weather", "action_input": {written}}}'
    assert ask(reply, RAIN).check().calls[0].arguments == arguments


@pytest.mark.parametrize(
    ("properties", "written", "arguments"),
    [
        ({"a": {"type": "integer"}, "b": {"type": "number"}}, "(2, 3)", {"a": 2, "b": 3}),
        ({"a": {"type": "string"}, "b": {"type": "integer"}}, '("x", 3)', {"a": "x", "b": 3}),
        (
            {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "integer"}},
            '(["x"], 3)',
            {"a": ["x"], "b": 3},
        ),
        ({"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "integer"}}, '(["x", "y"])', None),
        ({"a": {"type": "array"}, "b": {"type": "integer"}}, "([1], 3)", None),
    ],
)
def test_values_in_a_call_are_the_parameters_in_their_order(
    ask: Any, properties: dict[str, Any], written: str, arguments: dict[str, Any] | None
) -> None:
    schema = {"type": "object", "properties": properties, "required": ["a", "b"]}
    run = ask(f"Action: t{written}", RAIN, tools={"t": ScriptedTool("done", parameters=schema)}).check()
    given = [call.arguments for call in run.calls if isinstance(call.arguments, dict)]
    assert given == ([] if arguments is None else [arguments])


@pytest.mark.parametrize("written", ["null", '""', "{}"])
def test_no_input_is_an_empty_object(ask: Any, written: str) -> None:
    reply = f'Action: {{"action": "look", "action_input": {written}}}'
    assert ask(reply, RAIN, tools={"look": "nothing"}).check().calls[0].arguments == {}


def test_a_sentence_for_several_parameters_is_not_guessed_at(ask: Any) -> None:
    reply = 'Action: {"action": "book", "action_input": "seven hundred"}'
    run = ask(reply, RAIN, tools={"book": ScriptedTool("booked", parameters=TWO)}).check()
    assert "seven hundred" in said(run, 1)
    assert "was not called" in said(run, 1)


def test_an_empty_reply_is_asked_for_once_more(ask: Any) -> None:
    run = ask("", RAIN).check()
    assert "The last reply was empty" in said(run, 1)
    assert run.answer == "Rain."


@pytest.mark.parametrize("reply", ["", "<think>hm", "Final Answer:", Turn(reasoning="hm")])
def test_a_second_empty_reply_fails_the_run_and_says_so(ask: Any, reply: Any) -> None:
    run = ask(reply, reply)
    assert isinstance(run.error, ModelFailedError)
    assert "was empty" in run.error.message


def test_the_answer_may_be_empty_when_the_thought_is_not(ask: Any) -> None:
    run = ask("Thought: It rains.\nFinal Answer:", "Thought: It rains.\nFinal Answer:").check()
    assert run.answer == "It rains."


def test_an_answer_in_reasoning_that_was_never_closed_counts_when_nothing_else_came(ask: Any) -> None:
    run = ask(Turn(reasoning=["Hm.\nThought: I know.\nFinal ", "Answer: Rain."])).check()
    assert (run.answer, run.reasoning) == ("Rain.", "Hm.\nThought: I know.\nFinal Answer: Rain.")


def test_so_does_an_action_at_its_end(ask: Any) -> None:
    run = ask(Turn(reasoning="Hm.\nAction: weather\nAction Input: Oban"), RAIN).check()
    assert [(call.name, call.arguments) for call in run.calls] == [("weather", {"city": "Oban"})]


def test_an_action_in_the_midst_of_it_is_asked_about(ask: Any) -> None:
    run = ask(Turn(reasoning="I could write\nAction: weather[Oban]\nbut should I?"), RAIN).check()
    assert run.calls == []
    assert "never closed" in said(run, 1)


def test_a_draft_that_was_cut_off_is_not_run(ask: Any) -> None:
    run = ask(Turn(reasoning="Hm.\nAction: weather\nAction Input: Oban", finish_reason="length"), RAIN).check()
    assert run.calls == []


@pytest.mark.parametrize(
    "reply",
    [
        '<tool_call>{"name": "weather", "arguments": {"city": "Oban"}}</tool_call>',
        '[TOOL_CALLS]weather{"city": "Oban"}',
    ],
)
def test_a_call_in_the_model_s_own_markup_is_run(ask: Any, reply: str) -> None:
    run = ask(list(reply), RAIN).check()
    assert [(call.name, call.arguments) for call in run.calls] == [("weather", {"city": "Oban"})]


def test_reasoning_is_kept_apart(ask: Any) -> None:
    run = ask(Turn("<think>a</think>Final Answer: Rain.", reasoning="b")).check()
    assert (run.reasoning, run.answer) == ("ba", "Rain.")


def test_a_call_that_the_model_makes_in_its_own_way_is_a_call_too(ask: Any) -> None:
    run = ask(Turn("Thought: I look.", calls=[CallOf("weather", {"city": "Oban"})]), RAIN).check()
    assert 'Action: {"action": "weather", "action_input": {"city": "Oban"}}' in said(run, 1)
    assert run.answer == "Rain."


def test_earlier_turns_are_told_as_text(ask: Any) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Mull"}'}}
    history = [
        {"role": "system", "content": "Old."},
        {"role": "user", "content": "Mull?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "sun"},
        {"role": "assistant", "content": "Sun."},
    ]
    messages = ask(RAIN, history=history).check().requests[0].messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[0].content.startswith("Old.")
    assert messages[2].content == (
        'Action: {"action": "weather", "action_input": {"city": "Mull"}}\nObservation: sun\nFinal Answer: Sun.'
    )


def test_images_go_to_a_model_that_sees_and_other_files_are_named() -> None:
    files = [
        File(url="data:image/png;base64,AA==", mime_type="image/png"),
        File(url="https://x/a.pdf", filename="a.pdf"),
    ]
    model = ScriptedModel(RAIN, info=ModelInfo(name="m", vision=True))
    run = run_strategy(ChainOfThoughtStrategy, "What?", model=model, tools={"weather": weather}, files=files).check()
    parts = run.requests[0].messages[-1].content
    assert isinstance(parts, list)
    text, image = parts
    assert isinstance(text, TextPart)
    assert isinstance(image, ImagePart)
    assert text.text == "What?\n\n[files given with the question, which you cannot see: a.pdf]"
    assert image.image_url.url.startswith("data:image/png")


def test_without_tools_the_text_is_the_answer_from_the_start(ask: Any) -> None:
    run = ask(["Ra", "in.\nAction: none of my business."], tools={}, params={"instruction": "Be brief."}).check()
    assert run.requests[0].messages == (SystemMessage(content="Be brief."), UserMessage(content="Weather in Oban?"))
    assert run.requests[0].stop == ()
    assert run.answer == "Rain.\nAction: none of my business."
    assert next(m.message.text for m in run.of_type("text")) == "Ra"


def test_without_tools_labels_are_taken_off_all_the_same(ask: Any) -> None:
    run = ask(RAIN, tools={}).check()
    assert (run.reasoning, run.answer) == ("I know.\n", "Rain.")


def test_chinese_labels_are_an_option(ask: Any) -> None:
    reply = '思考: 查\n行动\uff1a{"action": "weather", "action_input": "北仓"}\n观察\uff1a晴'
    run = ask(reply, "最终答案\uff1a有雨。", params={"chinese_labels": True}).check()
    assert run.calls[0].arguments == {"city": "北仓"}
    assert "\n观察\uff1a" in run.requests[0].stop
    assert run.answer == "有雨。"


def test_a_reply_may_begin_inside_a_think_block(ask: Any) -> None:
    run = ask("Action: weather[x]\n</think>\n" + RAIN, params={"starts_thinking": True}).check()
    assert run.calls == []
    assert run.answer == "Rain."


def test_a_base_model_gets_one_text_to_go_on_with() -> None:
    model = ScriptedModel(
        LOOK.removeprefix("Thought:"), " I know.\nFinal Answer: Rain.", info=ModelInfo(completion=True)
    )
    history = [{"role": "user", "content": "Mull?"}, {"role": "assistant", "content": "Sun."}]
    run = run_strategy(
        ChainOfThoughtStrategy, "Oban?", model=model, tools={"weather": weather}, history=history
    ).check()
    assert all(request.completion and len(request.messages) == 1 for request in run.requests)
    first, second = (str(request.messages[0].content) for request in run.requests)
    assert first.endswith("Question: Mull?\n\nFinal Answer: Sun.\n\nQuestion: Oban?\nThought:")
    assert second == first + (
        ' I look.\nAction: {"action": "weather", "action_input": {"city": "Oban"}}\nObservation: rain in Oban\nThought:'
    )
    assert "\nQuestion:" in run.requests[0].stop
    assert run.answer == "Rain."


def test_the_form_can_be_chosen(ask: Any) -> None:
    assert ask(RAIN, params={"form": "completion"}).check().requests[0].completion
    model = ScriptedModel(RAIN, info=ModelInfo(completion=True))
    chat = run_strategy(ChainOfThoughtStrategy, "?", model=model, params={"form": "chat"}).check()
    assert not chat.requests[0].completion


def test_twenty_actions_in_mixed_forms_leave_the_right_log_tree(ask: Any) -> None:
    forms = [
        LOOK,
        "Thought: I look.\nAction: weather\nAction Input: Oban",
        'Action: weather("Oban")',
        '```json\n{"action": "weather", "action_input": {"city": "Oban"}}\n```',
        "1. Action: weather\n2. Action Input: {'city': 'Oban'}\nObservation: sun",
    ]
    run = ask(*forms * 4, RAIN, params={"max_iteration": 20}).check()
    assert [call.arguments for call in run.calls] == [{"city": "Oban"}] * 20
    rounds = [log for log in run.logs if log.parent_id is None]
    assert [log.label for log in rounds] == [f"ROUND {n}" for n in range(1, 22)]
    for node in rounds[:-1]:
        children = [log for log in run.logs if log.parent_id == node.id]
        assert [log.metadata["kind"] for log in children] == ["model", "tool"]
        assert all(log.status.value == "success" for log in children)
    assert run.answer == "Rain."


def test_a_failed_model_is_told_with_its_own_error(ask: Any) -> None:
    run = ask(Turn("Thought: I", error=ModelFailedError("down")))
    assert run.error is not None
    assert run.error.code is ErrorCode.MODEL_FAILED

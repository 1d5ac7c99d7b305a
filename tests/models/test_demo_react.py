"""The demo model where the prompt asks for thoughts and actions in text."""

import json
from typing import Any

import pytest

from enfilade.models.gateway import ModelGateway
from enfilade_sdk.prompts import AssistantMessage, PromptMessage, SystemMessage, UserMessage
from tests.models.test_demo import CALCULATOR, CLOCK
from tests.support.model_calls import ask

AS_JSON = json.dumps([CALCULATOR.to_openai(), CLOCK.to_openai()])
AS_LINES = "\n".join(f"- {each.name}: {each.description} {json.dumps(each.parameters)}" for each in (CALCULATOR, CLOCK))
JSON_RULES = """Answer as well as you can. You may use these tools:
{tools}
Use this form:
Thought: what to do
Action: {{"action": "NAME", "action_input": {{...}}}}
Observation: what the tool said
FinalAnswer: the answer"""
LINE_RULES = """Tools:
{tools}

Thought: what to do
Action: the name of a tool
Action Input: its input as JSON
Observation: what the tool said
... (repeated as needed)
Final Answer: the answer"""
QUESTION = UserMessage(content="What is 12 * 7, and what time is it in Tokyo?")


@pytest.mark.parametrize("menu", [AS_JSON, AS_LINES])
async def test_actions_come_one_after_another_in_one_json_object(menu: str) -> None:
    rules, gateway = SystemMessage(content=JSON_RULES.format(tools=menu)), ModelGateway({})
    so_far: list[PromptMessage] = []
    expected: list[dict[str, Any]] = [
        {"action": "calculator", "action_input": {"expression": "12 * 7"}},
        {"action": "current_time", "action_input": {"timezone": "Asia/Tokyo"}},
    ]
    scratch = ""
    for action, said in zip(expected, ("84", "2026-11-30T21:00:00+09:00"), strict=True):
        answer = await ask(gateway, rules, QUESTION, *so_far, stop=("Observation",))
        assert answer.calls == []
        thought, _, text = answer.text.partition("Action: ")
        assert thought.startswith("Thought: ")
        assert json.loads(text) == action
        scratch += f"{answer.text}\nObservation: {said}\n"
        so_far = [AssistantMessage(content=scratch)]
    final = (await ask(gateway, rules, QUESTION, *so_far)).text
    assert "FinalAnswer: 12 * 7 = 84.\ncurrent_time says: 2026-11-30T21:00:00+09:00" in final


async def test_actions_come_in_two_lines_where_the_prompt_wants_them_so() -> None:
    rules, gateway = SystemMessage(content=LINE_RULES.format(tools=AS_LINES)), ModelGateway({})
    answer = await ask(gateway, rules, "What is 12 * 7?")
    assert answer.text.endswith('Action: calculator\nAction Input: {"expression": "12 * 7"}')
    scratch = AssistantMessage(content=answer.text + "\nObservation: 84\n")
    assert "Final Answer: 12 * 7 = 84." in (await ask(gateway, rules, "What is 12 * 7?", scratch)).text


async def test_the_completion_form_is_one_text() -> None:
    prompt = LINE_RULES.format(tools=AS_JSON) + "\n\nQuestion: What is 12 * 7?\n"
    gateway = ModelGateway({})
    first = await ask(gateway, prompt, completion=True)
    assert first.text.endswith('Action: calculator\nAction Input: {"expression": "12 * 7"}')
    second = await ask(gateway, f"{prompt}{first.text}\nObservation: 84\n", completion=True)
    assert "Final Answer: 12 * 7 = 84." in second.text


async def test_without_a_tool_that_fits_the_answer_comes_at_once() -> None:
    rules = SystemMessage(content=JSON_RULES.format(tools=AS_JSON))
    answer = await ask(ModelGateway({}), rules, "Who are you?")
    assert "FinalAnswer: I am the demo model: rules, not a language model." in answer.text


async def test_an_instruction_that_only_speaks_of_actions_is_no_text_form() -> None:
    rules = SystemMessage(content="Action: be brief.")
    assert "Thought" not in (await ask(ModelGateway({}), rules, "Who are you?")).text

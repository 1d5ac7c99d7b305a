"""The demo model: rules, not a language model."""

import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.models.demo.plan import plan
from enfilade.models.demo.wording import LABEL
from enfilade.models.gateway import ModelGateway
from enfilade_sdk.prompts import AssistantMessage, ImagePart, ImageUrl, PromptTool, TextPart, ToolMessage, UserMessage
from tests.support.model_calls import WEATHER, answered, ask

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def tool(name: str, description: str, required: list[str] | None = None, **properties: Any) -> PromptTool:
    needed = list(properties) if required is None else required
    schema = {"type": "object", "properties": properties, "required": needed}
    return PromptTool(name=name, description=description, parameters=schema)


CALCULATOR = tool("calculator", "Works out arithmetic exactly and gives the number.", expression=TEXT)
CLOCK = tool("current_time", "Tells the current date and time in a time zone.", [], timezone=TEXT)
READER = tool("read_file", "Reads a text file below the folder.", ["path"], path=TEXT, offset=WHOLE)
TIDE = tool("get_tide_table", "Tide table of a port.", port=TEXT)
NOTES = tool("notes_search", "Searches the notes.", ["query"], query=TEXT, limit=WHOLE)
BOOK = tool("book", "Books an amount.", amount=WHOLE, tag=TEXT)
ADD = tool("add", "Adds two numbers.", a={"type": "number"}, b={"type": "number"})
LAMP = tool("switch_lamp", "Switches the lamp.", room={"enum": ["hall", "kitchen"]}, on={"type": "boolean"})
MEAN = tool("mean", "The mean of numbers.", numbers={"type": "array", "items": {"type": "number"}})
PAGE = tool("summarize_page", "Summarizes a web page.", url={"anyOf": [{"type": "null"}, TEXT]})
SEARCH = tool("search_docs", "Searches the knowledge base.", query=TEXT)
MENU = [CALCULATOR, CLOCK, READER, WEATHER, TIDE, NOTES, BOOK, ADD, LAMP, MEAN, PAGE]

QUESTIONS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "What is 12 * 7?": [("calculator", {"expression": "12 * 7"})],
    "what is 12 times 7": [("calculator", {"expression": "12 * 7"})],
    "How much is 7 x 6?": [("calculator", {"expression": "7 * 6"})],
    "What is 15% of 80?": [("calculator", {"expression": "15 / 100 * 80"})],
    "What is the square root of 144 plus 5?": [("calculator", {"expression": "sqrt(144) + 5"})],
    "Compute 1,000 * 3.": [("calculator", {"expression": "1000 * 3"})],
    "What is (3 + 4) * -2 on 2024-01-02?": [("calculator", {"expression": "(3 + 4) * -2"})],
    "2 to the power of 10": [("calculator", {"expression": "2 ** 10"})],
    "What time is it in Tokyo?": [("current_time", {"timezone": "Asia/Tokyo"})],
    "What is the time in America/Sao_Paulo?": [("current_time", {"timezone": "America/Sao_Paulo"})],
    "the date in germany please": [("current_time", {"timezone": "Europe/Berlin"})],
    "What time is it?": [("current_time", {})],
    "What day is it today at UTC+5:30?": [("current_time", {"timezone": "+5:30"})],
    "Time in New York, and what is 3+4?": [
        ("calculator", {"expression": "3+4"}),
        ("current_time", {"timezone": "America/New_York"}),
    ],
    "Read notes.txt": [("read_file", {"path": "notes.txt"})],
    "What does docs/README.md say?": [("read_file", {"path": "docs/README.md"})],
    "Weather in Oban?": [("weather", {"city": "Oban"})],
    "What is the weather like in San Francisco today?": [
        ("current_time", {"timezone": "America/Los_Angeles"}),
        ("weather", {"city": "San Francisco"}),
    ],
    "Tide for Oban?": [("get_tide_table", {"port": "Oban"})],
    "Give me the tide table for Oban.": [("get_tide_table", {"port": "Oban"})],
    "Look up 'mooring fees' in the notes": [("notes_search", {"query": "mooring fees"})],
    "Search the notes about mooring, limit 3": [("notes_search", {"query": "mooring, limit 3", "limit": 3})],
    "Book 7000 for 'tick'": [("book", {"amount": 7000, "tag": "tick"})],
    "Add 3 and 4.5": [("add", {"a": 3, "b": 4.5})],
    "Switch the lamp in the kitchen on": [("switch_lamp", {"room": "kitchen", "on": True})],
    "Switch the lamp off": [("switch_lamp", {"room": "hall", "on": False})],
    "The mean of 3, 4 and 8": [("mean", {"numbers": [3, 4, 8]})],
    "Summarize the page https://example.org/a?b=1.": [("summarize_page", {"url": "https://example.org/a?b=1"})],
    "Who are you?": [],
    "What is 5?": [],
    "": [],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_tools_and_arguments_are_found_by_the_words_of_the_question(question: str) -> None:
    assert [(step.name, step.arguments) for step in plan(question, MENU)] == QUESTIONS[question]


def test_a_knowledge_base_is_searched_where_nothing_else_fits() -> None:
    menu = [CALCULATOR, SEARCH, READER]
    query = {"query": "Who built the lighthouse"}
    assert [(step.name, step.arguments) for step in plan("Who built the lighthouse?", menu)] == [("search_docs", query)]
    assert [step.name for step in plan("What is 12 * 7?", menu)] == ["calculator"]
    assert [step.name for step in plan("Read notes.txt", menu)] == ["read_file"]
    assert plan("", menu) == []


async def test_the_answer_of_a_knowledge_base_is_told_with_its_source() -> None:
    gateway = ModelGateway({})
    first = await ask(gateway, "Who built the lighthouse?", tools=(SEARCH,))
    found = "[1] harbour.md, Lighthouse\nIt is white. Ada built the lighthouse. It is tall.\n\n[2] other.md\nNothing."
    second = await ask(gateway, "Who built the lighthouse?", *answered(first, found), tools=(SEARCH,))
    assert second.text == (
        f"It is white. [...] Ada built the lighthouse.\n\nSource: [1] harbour.md, Lighthouse\n\n({LABEL})"
    )


async def test_a_sum_is_worked_out_by_the_calculator_and_the_answer_says_so() -> None:
    gateway = ModelGateway({})
    first = await ask(gateway, "What is 12 * 7?", tools=(CALCULATOR,))
    assert first.calls == [("demo0x0", "calculator", {"expression": "12 * 7"})]
    assert (first.result.finish_reason, first.message.content) == ("tool_calls", None)
    second = await ask(gateway, "What is 12 * 7?", *answered(first, "84"), tools=(CALCULATOR,))
    assert second.text == second.message.content == f"12 * 7 = 84.\n\n({LABEL})"
    assert len(second.chunks) > 3
    assert second.result.finish_reason == "stop"


async def test_several_results_make_one_answer_and_errors_are_told() -> None:
    gateway = ModelGateway({})
    tools = (CALCULATOR, WEATHER)
    first = await ask(gateway, "Weather in Oban, and 3 / 0?", tools=tools)
    history = answered(first, "division by zero", "rain\nall day")
    history[1] = history[1].model_copy(update={"is_error": True})
    answer = await ask(gateway, "Weather in Oban, and 3 / 0?", *history, tools=tools)
    assert answer.text.startswith("calculator could not do it: division by zero\nweather says: rain\nall day\n")


async def test_results_of_earlier_turns_are_not_the_answer_to_a_new_question() -> None:
    gateway = ModelGateway({})
    first = await ask(gateway, "What is 12 * 7?", tools=(CALCULATOR,))
    history = [UserMessage(content="What is 12 * 7?"), *answered(first, "84"), AssistantMessage(content="84")]
    again = await ask(gateway, *history, "And 5 + 5?", tools=(CALCULATOR,))
    assert [call[2] for call in again.calls] == [{"expression": "5 + 5"}]
    assert again.calls[0][0] != first.calls[0][0]


async def test_without_a_tool_that_fits_it_says_what_it_is() -> None:
    gateway = ModelGateway({})
    assert "rules, not a language model" in (await ask(gateway, "Who are you?")).text
    answer = await ask(gateway, "Who are you?", tools=(CALCULATOR,))
    assert "none of the tools I was given (calculator) fits it" in answer.text


async def test_tool_choice_is_obeyed() -> None:
    gateway = ModelGateway({})
    tools = (CALCULATOR, NOTES)
    assert (await ask(gateway, "What is 12 * 7?", tools=tools, tool_choice="none")).calls == []
    forced = await ask(gateway, "Hello there", tools=tools, tool_choice="required")
    assert [call[1:] for call in forced.calls] == [("notes_search", {"query": "Hello there"})]
    named = {"type": "function", "function": {"name": "notes_search"}}
    chosen = await ask(gateway, "What is 12 * 7?", tools=tools, tool_choice=named)
    assert [call[1] for call in chosen.calls] == ["notes_search"]


async def test_it_says_the_same_whenever_it_is_asked() -> None:
    gateway = ModelGateway({})
    answers = [await ask(gateway, "Weather in Oban?", tools=(WEATHER,)) for _ in range(2)]
    assert answers[0].message == answers[1].message


async def test_usage_is_an_estimate_and_is_called_one() -> None:
    answer = await ask(ModelGateway({}), "x" * 400)
    usage = answer.result.usage
    assert usage.prompt_tokens == 100
    assert usage.completion_tokens == -(-len(answer.text) // 4)
    assert usage.total_tokens == 100 + usage.completion_tokens
    assert "estimate" in answer.result.model
    assert "rules, not a language model" in answer.result.model


async def test_a_question_in_parts_is_read() -> None:
    image = ImagePart(image_url=ImageUrl(url="https://example.org/x.png"))
    question = UserMessage(content=[TextPart(text="What is 12 * 7?"), image])
    assert (await ask(ModelGateway({}), question, tools=(CALCULATOR,))).calls


async def test_it_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", None)
    gateway = ModelGateway({})
    gateway.warm()
    assert (await ask(gateway, "What is 12 * 7?", tools=(CALCULATOR,))).calls
    await gateway.aclose()


async def test_a_result_without_its_call_is_told_too() -> None:
    answer = await ask(ModelGateway({}), "?", ToolMessage(tool_call_id="x", content="84", name="calculator"))
    assert answer.text.startswith("calculator says: 84")


WORDS = st.lists(
    st.sampled_from(
        ["12", "*", "time", "in", "Oban", "notes.txt", "'x'", "file", "weather", "-", "(", "sqrt(", "%", "\n", "é"]
    ),
    max_size=12,
)


@given(WORDS)
def test_whatever_is_asked_the_calls_fit_the_menu(words: list[str]) -> None:
    steps = plan(" ".join(words), MENU)
    menu = {each.name: each for each in MENU}
    assert len(steps) <= 4
    for step in steps:
        assert set(menu[step.name].parameters["required"]) <= step.arguments.keys()
        assert step.arguments.keys() <= menu[step.name].parameters["properties"].keys()
        json.dumps(step.arguments)

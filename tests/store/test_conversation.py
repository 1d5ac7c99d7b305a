"""A conversation rebuilt from the records: as the live run had it, and fit for every provider."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

import pytest

from enfilade.outcome import Status
from enfilade.store.conversation import Window
from enfilade.store.dialogue import since_question
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from enfilade_fc.strategy import FunctionCallingStrategy
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.invocation import File, ModelInfo
from enfilade_sdk.messages import ToolInvokeMessage, text_message
from enfilade_sdk.prompts import (
    AssistantMessage,
    ImagePart,
    ModelRequest,
    ModelResult,
    PromptMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from enfilade_sdk.session import Session
from enfilade_sdk.strategy import AgentStrategy
from enfilade_sdk.testing.scripted_model import ScriptedModel
from enfilade_sdk.testing.turn import CallOf, Turn
from tests.store.provider_rules import faults_of
from tests.store.recording import RecordedRun, recorded_run

C = "harbour"
WEATHER = CallOf("weather", {"city": "Oban"})
TIDE = CallOf("tide", {"port": "Oban"})
TOOLS: dict[str, Any] = {"weather": lambda city: f"rain in {city}", "tide": ValueError("the tide table is lost")}


async def asked(store: Store, query: str, *turns: Any, **setup: Any) -> RecordedRun:
    """One turn of the conversation by function calling."""
    setup.setdefault("tools", TOOLS)
    return await recorded_run(store, FunctionCallingStrategy, query, model=list(turns), conversation_id=C, **setup)


async def rebuilt(store: Store, **wanted: Any) -> list[PromptMessage]:
    """The conversation, checked against the strictest provider."""
    messages = list((await store.conversation(C, **wanted)).messages)
    assert faults_of(messages) == []
    return messages


@pytest.mark.parametrize("wired", [False, True], ids=["in process", "across the wire"])
async def test_a_conversation_is_what_the_live_run_had_tool_rounds_included(store: Store, *, wired: bool) -> None:
    run = await asked(
        store,
        "Weather and tide?",
        Turn(text="Let me look.", calls=[WEATHER, TIDE], reasoning="two look-ups"),
        Turn(calls=[CallOf("weather", {"city": "Iona"})]),
        Turn(text="Rain. The tide table is lost.", reasoning="that is all"),
        params={"instruction": "You are a pilot."},
        wired=wired,
    )
    assert len(run.live) == 7
    assert await rebuilt(store) == run.live


async def test_the_next_turn_begins_with_all_of_the_turn_before(store: Store) -> None:
    first = await asked(store, "Weather?", WEATHER, "Rain.")
    second = await asked(store, "And tomorrow?", WEATHER, "More rain.", params={"instruction": "Be short."})
    assert second.live[: len(first.live)] == first.live
    assert await rebuilt(store) == second.live


async def test_every_kind_of_failing_call_keeps_the_text_the_model_was_told(store: Store) -> None:
    run = await asked(
        store,
        "Try all.",
        Turn(calls=[TIDE, CallOf("no_such_tool"), CallOf("weather", '{"city": '), WEATHER]),
        "Done.",
    )
    messages = await rebuilt(store)
    assert messages == run.live
    told = [m for m in messages if isinstance(m, ToolMessage)]
    assert [message.is_error for message in told] == [True, True, True, False]
    assert "there is not a tool named no_such_tool" in told[1].content


async def test_images_go_on_being_part_of_the_question(store: Store) -> None:
    image = File(url="data:image/png;base64,AAAA", mime_type="image/png", filename="chart.png")
    chart = File(url="https://charts.example/oban.pdf", mime_type="application/pdf", filename="oban.pdf")
    sees = ScriptedModel("A chart.", info=ModelInfo(name="seer", vision=True))
    run = await recorded_run(
        store, FunctionCallingStrategy, "What is this?", model=sees, files=[image, chart], conversation_id=C
    )
    messages = await rebuilt(store)
    assert messages == run.live
    assert isinstance(messages[0].content, list)
    assert any(isinstance(part, ImagePart) for part in messages[0].content)


async def test_texts_that_no_database_takes_come_back_unharmed(store: Store) -> None:
    odd = "nul \0, half a pair \ud83d, mark \x01json:, emoji \N{FISH}"
    run = await asked(store, "nul \0?", Turn(text=odd, calls=[WEATHER]), odd, tools={"weather": lambda city: odd})
    assert await rebuilt(store) == run.live


async def test_a_reply_asked_for_again_leaves_one_question(store: Store) -> None:
    await asked(store, "Weather?", Turn(reasoning="It rains."), "Rain.")
    question, answer = await rebuilt(store)
    assert question == UserMessage(
        content="Weather?\n\nYour last reply was empty. Answer the question in words, or call a tool."
    )
    assert answer == AssistantMessage(content="Rain.")


async def test_a_failed_run_leaves_its_tool_rounds_and_says_that_it_failed(store: Store) -> None:
    run = await asked(store, "Weather?", WEATHER, ModelFailedError("the provider is away"))
    messages = await rebuilt(store)
    assert messages[:-1] == run.live
    assert messages[-1] == AssistantMessage(content="[No answer: the run failed (model_failed).]")


async def test_a_run_that_fails_in_the_middle_of_its_answer_keeps_what_was_said(store: Store) -> None:
    await asked(store, "Weather?", Turn(text=["Rain ", "and"], error=ModelFailedError("cut")))
    _question, answer = await rebuilt(store)
    assert answer == AssistantMessage(content="Rain and\n\n[Cut off: the run failed (model_failed).]")


async def test_a_call_without_a_result_gets_one_that_says_so(store: Store) -> None:
    record = await store.records.run_began(RunStart("r1", "fc", "Weather?", conversation_id=C))
    entry = await record.model_began(ModelRequest((UserMessage(content="Weather?"),)))
    calls = tuple(ToolCall(id=f"c{n}", name="weather", parsed={}) for n in (1, 2, 3))
    entry.ended(ModelResult(AssistantMessage(tool_calls=calls)))
    await record.tool_began(ToolRequest("weather", {}, "c1"))
    (await record.tool_began(ToolRequest("weather", {}, "c2"))).ended(ToolResult("rain"))
    record.ended(Status.CANCELLED)
    _, _asks, *told, closing = await rebuilt(store)
    missing = "There is no result: the run was cancelled before this call ended."
    assert [message.content for message in told] == [missing, "rain", missing]
    assert closing == AssistantMessage(content="[No answer: the run was cancelled.]")


async def test_a_run_whose_caller_left_leaves_a_turn(store: Store) -> None:
    run = await asked(store, "Weather?", Turn(text=["It ", "rains ", "a lot."]), cancel_after=4)
    assert run.seen.text == "It rains "
    _question, answer = await rebuilt(store)
    assert answer == AssistantMessage(content="It rains \n\n[Cut off: the run was cancelled.]")


@pytest.mark.parametrize(
    ("on_limit", "closing"),
    [
        ("raise", "[No answer: the run failed (max_iterations).]"),
        ("answer", "Still looking.\n\nThe limit of 1 rounds with tools was reached before the work was done."),
        ("partial", "Still looking."),
    ],
)
async def test_a_run_at_its_limit_leaves_no_call_open(store: Store, on_limit: str, closing: str) -> None:
    await asked(
        store,
        "Weather?",
        WEATHER,
        Turn(text="Still looking.", calls=[WEATHER]),
        params={"max_iteration": 1, "on_limit": on_limit},
    )
    messages = await rebuilt(store)
    assert messages[-1] == AssistantMessage(content=closing)
    calls = sum(len(m.tool_calls) for m in messages if isinstance(m, AssistantMessage))
    assert calls == (2 if on_limit == "raise" else 1)


async def test_a_run_that_failed_before_it_asked_a_model_is_a_turn_too(store: Store) -> None:
    record = await store.records.run_began(RunStart("r1", "fc", "Hello?", conversation_id=C))
    record.ended(Status.FAILED, error=ModelFailedError("no such model"))
    assert await rebuilt(store) == [
        UserMessage(content="Hello?"),
        AssistantMessage(content="[No answer: the run failed (model_failed).]"),
    ]


class Summarises(AgentStrategy):
    """Asks with a prompt of its own beside the dialogue, before and after it."""

    name = "summarises"

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        query = params["query"]
        await session.model.invoke([{"role": "user", "content": f"Give three key words: {query}"}])
        draft = await session.model.invoke([{"role": "user", "content": query}])
        final = await session.model.invoke([{"role": "user", "content": f"Polish: {draft.message.content}"}])
        yield text_message(final.message.content or "")


async def test_prompts_beside_the_dialogue_stay_out_of_it(store: Store) -> None:
    await recorded_run(store, Summarises, "Weather?", model=["rain", "a draft", "a gem"], conversation_id=C)
    assert await rebuilt(store) == [UserMessage(content="Weather?"), AssistantMessage(content="a gem")]


class ReAct(AgentStrategy):
    """Goes on in one assistant message, as a chain of thought does; its calls stand in the text."""

    name = "react"

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        scratchpad = ""
        while True:
            messages: list[dict[str, Any]] = [{"role": "system", "content": "Think."}, *params.get("before", [])]
            messages += [{"role": "user", "content": params["query"]}]
            messages += [{"role": "assistant", "content": scratchpad}] if scratchpad else []
            said = (await session.model.invoke(messages)).message.content or ""
            if "Action:" not in said:
                yield text_message(said.removeprefix("Final Answer: "))
                return
            result = await session.tools.invoke("weather", {"city": "Oban"}, call_id="minted")
            scratchpad += f"{said}\nObservation: {result.text}\n"


async def test_a_dialogue_in_one_growing_message_is_kept_as_it_was(store: Store) -> None:
    turns = ["Thought: look.\nAction: weather", "Thought: again.\nAction: weather", "Final Answer: rain"]
    await recorded_run(store, ReAct, "Weather?", model=turns, tools=TOOLS, conversation_id=C)
    observed = "Thought: {}.\nAction: weather\nObservation: rain in Oban\n"
    whole = observed.format("look") + observed.format("again") + "Final Answer: rain"
    assert await rebuilt(store) == [UserMessage(content="Weather?"), AssistantMessage(content=whole)]


class OnePrompt(AgentStrategy):
    """Puts everything into one text, as for a base model."""

    name = "one-prompt"

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        prompt = [{"role": "user", "content": f"Question: {params['query']}\nThought:"}]
        await session.model.invoke(prompt, completion=True)
        await session.tools.invoke("weather", '{"city": "Oban"}')
        said = await session.model.invoke(prompt, completion=True)
        yield text_message(said.message.content or "")


async def test_a_run_without_a_dialogue_gives_its_question_its_calls_and_its_answer(store: Store) -> None:
    await recorded_run(store, OnePrompt, "Weather?", model=["look", "rain"], tools=TOOLS, conversation_id=C)
    question, call, result, answer = await rebuilt(store)
    assert question == UserMessage(content="Weather?")
    assert isinstance(call, AssistantMessage)
    assert isinstance(result, ToolMessage)
    assert [(c.name, c.parsed) for c in call.tool_calls] == [("weather", {"city": "Oban"})]
    assert result.content == "rain in Oban"
    assert answer == AssistantMessage(content="rain")


async def test_calls_that_a_reply_named_keep_its_words_also_without_a_dialogue(store: Store) -> None:
    record = await store.records.run_began(RunStart("r1", "fc", "Weather?", conversation_id=C))
    named = tuple(ToolCall(id=f"c{n}", name="weather", arguments=f'{{"n": {n}}}', parsed={"n": n}) for n in (1, 2))
    entry = await record.model_began(ModelRequest((UserMessage(content="Do: the weather"),)))
    entry.ended(ModelResult(AssistantMessage(content="Look.", tool_calls=named)))
    (await record.tool_began(ToolRequest("weather", {}, "c2"))).ended(ToolResult("rain"))
    for arguments in ("[1]", "half {", "[" * 100_000):
        (await record.model_began(ModelRequest((UserMessage(content="Do: more"),)))).ended(
            ModelResult(AssistantMessage(content="Action: weather"))
        )
        (await record.tool_began(ToolRequest("weather", arguments))).ended(ToolResult(arguments, is_error=True))
    record.ended(Status.SUCCEEDED, answer="Rain.")
    messages = await rebuilt(store)
    said = [m for m in messages if isinstance(m, AssistantMessage)]
    assert said[0] == AssistantMessage(content="Look.", tool_calls=named)
    assert [[call.arguments for call in m.tool_calls] for m in said[1:]] == [["{}"], ["{}"], ["{}"], []]
    told = [(m.content, m.is_error) for m in messages if isinstance(m, ToolMessage)]
    missing = ("There is no result: the run ended before this call ended.", True)
    assert told == [missing, ("rain", False), ("[1]", True), ("half {", True), ("[" * 100_000, True)]
    assert messages[-1] == AssistantMessage(content="Rain.")


class GivesUpWell(AgentStrategy):
    """Answers in its own words when the model breaks off."""

    name = "gives-up-well"

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        try:
            await session.model.invoke([{"role": "user", "content": params["query"]}])
        except ModelFailedError:
            yield text_message("I cannot say.")


async def test_a_run_that_ended_well_in_its_own_words_keeps_those(store: Store) -> None:
    broken = Turn(text="Rain and", error=ModelFailedError("cut"))
    await recorded_run(store, GivesUpWell, "Weather?", model=[broken], conversation_id=C)
    assert await rebuilt(store) == [UserMessage(content="Weather?"), AssistantMessage(content="I cannot say.")]


async def test_a_secret_that_is_a_word_of_the_form_itself_costs_no_turn(store: Store) -> None:
    start = RunStart("r1", "fc", "Is it rain?", conversation_id=C, secrets=("user", "arguments"))
    record = await store.records.run_began(start)
    entry = await record.model_began(ModelRequest((UserMessage(content="Is it rain?"),)))
    entry.ended(ModelResult(AssistantMessage(tool_calls=(ToolCall(id="c1", name="weather"),))))
    (await record.tool_began(ToolRequest("weather", {}, "c1"))).ended(ToolResult("rain"))
    record.ended(Status.SUCCEEDED, answer="Yes.")
    question, call, result, answer = await rebuilt(store)
    assert (question, answer) == (UserMessage(content="Is it rain?"), AssistantMessage(content="Yes."))
    assert isinstance(call, AssistantMessage)
    assert [asked.name for asked in call.tool_calls] == ["weather"]
    assert result.content == "rain"


async def test_reading_that_is_given_up_harms_nothing(store: Store) -> None:
    await asked(store, "Weather?", "Rain.")
    for _ in range(20):
        reading = asyncio.create_task(store.conversation(C))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
    assert len(await rebuilt(store)) == 2


async def test_turns_are_cut_whole_and_the_newest_stay(store: Store) -> None:
    for number in range(3):
        await asked(store, f"Weather {number}?", WEATHER, "Rain.")
    for messages, turns in [(12, 3), (11, 2), (8, 2), (4, 1), (3, 0), (0, 0)]:
        found = await store.conversation(C, window=Window(messages=messages))
        assert (found.turns, len(found.messages), found.cut) == (turns, 4 * turns, turns < 3)
        assert [m.content for m in found.messages[:1]] == ([f"Weather {3 - turns}?"] if turns else [])


async def test_turns_are_cut_by_tokens(store: Store) -> None:
    for letter in "ab":
        await asked(store, letter * 400, "c" * 40)
    one = await store.conversation(C, window=Window(tokens=110))
    assert (one.turns, one.estimated_tokens, one.cut) == (1, 110, True)
    assert one.messages[0].content == "b" * 400
    assert (await store.conversation(C, window=Window(tokens=109))).turns == 0
    assert (await store.conversation(C, window=Window(tokens=220))).cut is False


async def test_a_long_conversation_is_read_page_by_page_in_order(store: Store) -> None:
    for number in range(45):
        record = await store.records.run_began(RunStart(uuid4().hex, "fc", f"question {number}", conversation_id=C))
        record.ended(Status.SUCCEEDED, answer=f"answer {number}")
    messages = await rebuilt(store)
    assert [m.content for m in messages] == [f"{kind} {n}" for n in range(45) for kind in ("question", "answer")]
    newest = await store.conversation(C, window=Window(messages=50))
    assert (newest.turns, newest.messages[0].content) == (25, "question 20")


async def test_a_conversation_is_not_read_by_another_user(store: Store) -> None:
    await asked(store, "A secret?", "Yes.", user="ada")
    await asked(store, "A word?", "No.", user="bob")
    assert [m.content for m in await rebuilt(store, user_id="bob")] == ["A word?", "No."]
    assert len(await rebuilt(store)) == 4


async def test_a_run_that_is_still_going_is_no_turn_yet(store: Store) -> None:
    record = await store.records.run_began(RunStart("r1", "fc", "Hello?", conversation_id=C))
    assert await rebuilt(store) == []
    record.ended(Status.SUCCEEDED, answer="Hello.")
    assert len(await rebuilt(store)) == 2


@pytest.mark.parametrize("question", ["rain", "  spaced  ", "two\nlines"])
@pytest.mark.parametrize("form", ["{}", "{}\n\n[files]"], ids=["as it is", "with lines below"])
@pytest.mark.parametrize("kept", [4, 3, 2, 0], ids=lambda kept: f"{kept} earlier messages")
def test_a_question_is_found_behind_a_history_that_asks_the_same(question: str, form: str, kept: int) -> None:
    turn: list[PromptMessage] = [UserMessage(content=question), AssistantMessage(content="rain")]
    history: list[PromptMessage] = [*turn, UserMessage(content="rain"), AssistantMessage(content="wind")]
    now: list[PromptMessage] = [
        UserMessage(content=form.format(question)),
        AssistantMessage(content="wind", reasoning="why"),
    ]
    prompt = [SystemMessage(content=question), *history[len(history) - kept :], *now]
    assert since_question(prompt, question, history) == [now[0], AssistantMessage(content="wind")]


def test_a_question_is_found_behind_a_history_that_was_put_otherwise() -> None:
    tide, rain = UserMessage(content="tide?"), UserMessage(content="rain?")
    history: list[PromptMessage] = [tide, AssistantMessage(content="low"), rain, AssistantMessage(content="No.")]
    flat: list[PromptMessage] = [tide, AssistantMessage(content="It was low."), rain]
    now = UserMessage(content="rain?")
    assert since_question([*flat, AssistantMessage(content="No."), now], "rain?", history) == [now]


@pytest.mark.parametrize("text", ["rainy", "No rain", "Summarise: rain", ""])
def test_a_message_that_only_looks_like_the_question_is_not_taken_for_it(text: str) -> None:
    assert since_question([UserMessage(content=text)], "rain") is None

import asyncio
from contextlib import aclosing

import pytest

from enfilade_sdk.errors import ModelFailedError, QuotaExceededError
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, Usage, UserMessage
from enfilade_sdk.testing import CallOf, ScriptedModel, Turn

HELLO = ModelRequest(messages=(UserMessage(content="hello"),))


async def play(model: ScriptedModel, request: ModelRequest = HELLO) -> tuple[list[ModelChunk], ModelResult]:
    answers = [answer async for answer in model.stream(request)]
    result = answers.pop()
    assert isinstance(result, ModelResult)
    return [answer for answer in answers if isinstance(answer, ModelChunk)], result


async def test_a_text_is_one_chunk_and_a_list_of_texts_is_as_many() -> None:
    model = ScriptedModel("all at once", ["in ", "parts"])
    chunks, result = await play(model)
    assert [chunk.text for chunk in chunks] == ["all at once"]
    assert (result.message.content, result.finish_reason) == ("all at once", "stop")
    chunks, result = await play(model)
    assert [chunk.text for chunk in chunks] == ["in ", "parts"]
    assert result.message.content == "in parts"


async def test_a_turn_has_reasoning_text_and_calls_in_that_order_and_its_usage() -> None:
    turn = Turn(
        text="I look.", reasoning=["hm", "m"], calls=[CallOf("look", {"at": "sky"})], usage=Usage(prompt_tokens=7)
    )
    chunks, result = await play(ScriptedModel(turn))
    assert [(c.reasoning, c.text, [d.name for d in c.tool_calls]) for c in chunks] == [
        ("hm", "", []),
        ("m", "", []),
        ("", "I look.", []),
        ("", "", ["look"]),
    ]
    [call] = result.message.tool_calls
    assert (call.name, call.arguments, call.parsed, call.error) == ("look", '{"at": "sky"}', {"at": "sky"}, None)
    assert (result.message.reasoning, result.finish_reason) == ("hmm", "tool_calls")
    assert result.usage.prompt_tokens == 7


async def test_every_call_has_an_id_of_its_own_over_all_turns() -> None:
    model = ScriptedModel([CallOf("a"), CallOf("a", id="mine")], CallOf("a"))
    _, first = await play(model)
    _, second = await play(model)
    ids = [call.id for call in (*first.message.tool_calls, *second.message.tool_calls)]
    assert ids[1] == "mine"
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("arguments", "error"),
    [('{"at": ', "the arguments are not valid JSON: "), ("[1]", "the arguments must be a JSON object, got: [1]")],
)
async def test_arguments_that_are_no_object_come_with_what_is_wrong_with_them(arguments: str, error: str) -> None:
    chunks, result = await play(ScriptedModel(CallOf("look", arguments)))
    [call] = result.message.tool_calls
    assert chunks[0].tool_calls[0].arguments == arguments
    assert (call.parsed, call.arguments) == (None, "{}")
    assert call.error is not None
    assert call.error.startswith(error)


async def test_a_failure_comes_after_the_chunks_that_were_sent() -> None:
    model = ScriptedModel(Turn(text="half", error=QuotaExceededError("no more")))
    seen = []
    with pytest.raises(QuotaExceededError, match="no more"):
        async for answer in model.stream(HELLO):
            seen.append(answer)  # noqa: PERF401 - what came before the failure counts
    assert seen == [ModelChunk(text="half")]


async def test_any_other_exception_is_a_failure_of_the_model() -> None:
    with pytest.raises(ModelFailedError, match="ConnectionError: cut"):
        await play(ScriptedModel(ConnectionError("cut")))


async def test_a_turn_that_hangs_waits_until_it_is_closed() -> None:
    model = ScriptedModel(Turn(text="One", hangs=True))
    async with aclosing(model.stream(HELLO)) as answers:
        assert await anext(answers) == ModelChunk(text="One")
        waiting = asyncio.ensure_future(anext(answers))
        done, _ = await asyncio.wait({waiting}, timeout=0.01)
        assert not done
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_function_is_shown_the_request_and_gives_the_turn() -> None:
    model = ScriptedModel(lambda request: f"you said {request.messages[0].content}")
    _, result = await play(model)
    assert result.message.content == "you said hello"


async def test_requests_are_remembered_and_turns_that_are_left_are_counted() -> None:
    model = ScriptedModel("a", "b")
    assert model.left == 2
    await play(model)
    assert model.left == 1
    assert model.requests == [HELLO]


async def test_a_request_beyond_the_script_is_refused_unless_the_last_turn_repeats() -> None:
    model = ScriptedModel("a")
    await play(model)
    with pytest.raises(ModelFailedError, match=r"the script has 1 turns and this is request 2"):
        await play(model)
    assert model.overrun == 1
    again = ScriptedModel("a", "b", repeat_last=True)
    assert [(await play(again))[1].message.content for _ in range(4)] == ["a", "b", "b", "b"]


async def test_what_is_no_turn_is_refused_with_what_would_be() -> None:
    with pytest.raises(TypeError, match="a turn is a Turn, a CallOf"):
        await play(ScriptedModel(5))

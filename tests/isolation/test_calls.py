"""A strategy's calls of models, tools and storage: in this process and from a guest alike."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from enfilade.admission import Runner
from enfilade_sdk.messages import JsonPayload, ToolInvokeMessage, message_of, text_message
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    ToolCall,
    ToolCallDelta,
    ToolRequest,
    ToolResult,
    Usage,
)
from tests.support.trial_hatch import Chunks, TrialHatch, hang, says
from tests.support.trial_run import events, messages, text_of, texts
from tests.support.trial_strategies import KINDS

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOTH_FORMS = pytest.mark.parametrize("form", ["", "Blocking"])
MIB = 1024 * 1024


@BOTH_FORMS
async def test_chunks_of_a_model_arrive_in_order_and_then_its_result(runner: Runner, form: str) -> None:
    delta = ToolCallDelta(index=1, id="c1", name="tool", arguments='{"a"')
    call = ToolCall(id="c1", name="tool", arguments='{"a": 1}', parsed={"a": 1})
    message = AssistantMessage(content="größer", reasoning="hm", tool_calls=(call,))

    async def model(_: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        for chunk in (
            ModelChunk("grö"),
            ModelChunk(reasoning="hm"),
            ModelChunk(tool_calls=(delta,)),
            ModelChunk("ßer"),
        ):
            yield chunk
        yield ModelResult(message, "tool_calls", Usage(prompt_tokens=3), "m", 0.5)

    *chunks, last = await messages(runner, f"Ask{form}", TrialHatch(model), query="q")
    assert [text_of(chunk) for chunk in chunks] == ["grö", "hm", repr((delta,)), "ßer"]
    assert isinstance(last.message, JsonPayload)
    assert last.message.json_object == {
        "message": message.model_dump(mode="json"),
        "finish_reason": "tool_calls",
        "usage": Usage(prompt_tokens=3).model_dump(),
    }


@BOTH_FORMS
async def test_twenty_thousand_chunks_are_forwarded_and_none_is_lost(runner: Runner, form: str) -> None:
    got = await texts(runner, f"Ask{form}", TrialHatch(Chunks(20_000)))
    assert got == ["word "] * 20_000


@BOTH_FORMS
@pytest.mark.parametrize("text", ["\N{CJK UNIFIED IDEOGRAPH-6C50}" * 3000, "x" * (2 * MIB)])
async def test_chunks_of_any_size_and_script_are_forwarded(runner: Runner, form: str, text: str) -> None:
    assert await texts(runner, f"Ask{form}", TrialHatch(Chunks(40, text))) == [text] * 40


@BOTH_FORMS
async def test_a_tool_gives_its_messages_and_then_its_result(runner: Runner, form: str) -> None:
    async def tool(request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        assert request.call_id == "c1"
        for message in KINDS:
            yield message_of(message)
        yield ToolResult("done", is_error=True, seconds=0.25, details={"code": "tool_failed"})

    *got, last = await messages(runner, f"UseTool{form}", TrialHatch(tool=tool), tool="tool")
    assert got == [message_of(message) for message in KINDS]
    assert isinstance(last.message, JsonPayload)
    assert last.message.json_object == {"text": "done", "is_error": True}


@BOTH_FORMS
async def test_the_storage_keeps_and_forgets(runner: Runner, form: str) -> None:
    hatch = TrialHatch()
    assert await texts(runner, f"Store{form}", hatch) == ["None", "{'a': [1, None, 'ü']}", "None"]
    assert hatch.stored == {}


async def test_what_was_not_granted_is_refused_and_the_run_goes_on(runner: Runner) -> None:
    assert await texts(runner, "Refused") == [
        "True there is not a tool named forbidden",
        "ModelFailedError: this run was not granted that model",
        "went on",
    ]


async def test_a_fault_of_the_hatch_reaches_the_strategy_without_its_traceback(runner: Runner) -> None:
    async def tool(_: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        yield text_message("first")
        raise KeyError("secret-7")

    with pytest.raises(Exception, match="KeyError") as caught:
        await messages(runner, "UseTool", TrialHatch(tool=tool), tool="tool")
    assert "Traceback" not in str(caught.value)


async def test_an_answer_without_a_result_is_an_error(runner: Runner) -> None:
    async def tool(_: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        yield text_message("only this")

    with pytest.raises(Exception, match="ended without a result"):
        await asyncio.wait_for(messages(runner, "UseTool", TrialHatch(tool=tool), tool="tool"), 10)


async def test_several_calls_are_open_at_once(runner: Runner) -> None:
    everybody = asyncio.Barrier(20)

    async def meet(request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        await everybody.wait()
        yield ToolResult(str(request.arguments))

    got = await asyncio.wait_for(texts(runner, "AtOnce", TrialHatch(meet=meet), n=20), 10)
    assert [eval(text)["n"] for text in got] == list(range(20))


async def test_a_blocking_strategy_reads_several_calls_in_turns(runner: Runner) -> None:
    async def model(request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        async for answer in Chunks(3, str(request.messages[0].content))(request):
            yield answer

    got = await texts(runner, "AtOnceBlocking", TrialHatch(model), n=5)
    assert got == [*"01234", *(str(number) * 3 for number in reversed(range(5)))]


@BOTH_FORMS
async def test_a_call_given_up_early_is_given_up_in_the_host(runner: Runner, form: str) -> None:
    chunks = Chunks(1_000_000)
    hatch = TrialHatch(chunks, tool=says("went on"))
    assert await texts(runner, f"GiveUp{form}", hatch) == ["word ", "given up", "went on"]
    assert (hatch.open, hatch.ended) == (0, 2)
    assert chunks.sent < 10_000


async def test_a_task_that_waits_for_a_call_which_another_gives_up_is_told(runner: Runner) -> None:
    hatch = TrialHatch(hang, tool=says("went on"))
    got = await texts(runner, "GiveUpElsewhere", hatch)
    assert got == ["RunCancelled: the run or the call was cancelled while the strategy waited for it", "went on"]
    assert hatch.open == 0


@BOTH_FORMS
async def test_an_unread_stream_waits_and_blocks_nothing_else(runner: Runner, form: str) -> None:
    chunks = Chunks(5000)
    ahead: list[int] = []

    async def tool(_: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        ahead.append(await _settled(chunks))
        yield ToolResult("meanwhile")

    got = await asyncio.wait_for(texts(runner, f"Unread{form}", TrialHatch(chunks, tool=tool)), 20)
    assert got == ["word ", "meanwhile", "5000"]
    assert ahead[0] < 2000  # the window, and what a few buffers hold


async def _settled(chunks: Chunks) -> int:
    """How many were sent once some were and many turns of the loop bring no more."""
    sent, turns = 0, 0
    async with asyncio.timeout(20):
        while turns < 500:
            await asyncio.sleep(0)
            turns = turns + 1 if sent and chunks.sent == sent else 0
            sent = chunks.sent
    return sent


@pytest.mark.parametrize("text", ["\N{CJK UNIFIED IDEOGRAPH-6C50}" * 3000, "x" * 100_000])
async def test_an_unread_stream_of_large_chunks_goes_on_when_it_is_read(runner: Runner, text: str) -> None:
    got = await asyncio.wait_for(texts(runner, "Unread", TrialHatch(Chunks(500, text), tool=says("meanwhile"))), 20)
    assert got == [text, "meanwhile", "500"]


async def test_a_call_left_open_at_the_end_is_given_up(runner: Runner) -> None:
    async def model(_: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        yield ModelChunk("first")
        await asyncio.Event().wait()

    hatch = TrialHatch(model)
    assert await texts(runner, "Abandon", hatch) == ["begun"]
    assert (hatch.open, hatch.ended) == (0, 1)
    assert await events(runner) == ["RunCancelled"]

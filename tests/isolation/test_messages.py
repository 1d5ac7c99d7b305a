"""Messages come through in order, whole, and at the caller's pace: in this process and from a guest alike."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from enfilade.admission import Runner
from enfilade.blobs import BlobJoiner
from enfilade_sdk.errors import LimitExceededError
from enfilade_sdk.invocation import File, Invocation, InvokeCredentials, ModelInfo
from enfilade_sdk.messages import BlobChunkPayload, JsonPayload, ToolInvokeMessage, message_of
from enfilade_sdk.prompts import ModelRequest, PromptTool, ToolRequest, ToolResult, UserMessage
from tests.support.trial_hatch import Chunks, TrialHatch, says
from tests.support.trial_run import begin, events, messages, text_of, texts
from tests.support.trial_strategies import KINDS

pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024
BOTH_FORMS = pytest.mark.parametrize("form", ["", "Blocking"])


@BOTH_FORMS
async def test_messages_of_all_twelve_kinds_arrive_whole_and_in_order(runner: Runner, form: str) -> None:
    assert await messages(runner, f"Kinds{form}") == [message_of(message) for message in KINDS]


@BOTH_FORMS
async def test_a_hundred_thousand_small_messages_arrive_in_order(runner: Runner, form: str) -> None:
    assert await texts(runner, f"Flood{form}", n=100_000) == [str(number) for number in range(100_000)]


@BOTH_FORMS
async def test_a_slow_caller_slows_a_flood(runner: Runner, form: str) -> None:
    async with aclosing(begin(runner, f"Flood{form}", n=1_000_000, tail="x" * 1000)) as run:
        for _ in range(10):
            await anext(run)
        await asyncio.sleep(0.3)
        (at,) = await events(runner)
        await asyncio.sleep(0.3)
        assert await events(runner) == []  # it stands still
    assert int(at) < 10_000  # ten megabytes ahead at the very most


async def test_large_blobs_do_not_pile_up(runner: Runner) -> None:
    async with aclosing(begin(runner, "LargeBlobs", n=1000)) as run:
        await anext(run)
        await asyncio.sleep(0.3)
        assert int((await events(runner))[0]) < 24


async def test_a_strategy_is_given_all_there_is(runner: Runner) -> None:
    invocation = Invocation(
        "Given",
        {"query": "größer", "deep": {"list": [1, 2.5, None]}},
        user_id="u",
        conversation_id="c",
        app_id="a",
        message_id="m",
        credentials=InvokeCredentials(tool_credentials={"tool": "ref"}),
        model=ModelInfo(name="m1", provider="p", tools=False, vision=True, context_window=4096, completion=True),
        tools=(PromptTool(name="t", description="d", parameters={"type": "object"}),),
        history=(UserMessage(content="earlier"),),
        files=(File(url="https://localhost/f.png", mime_type="image/png", filename="f.png"),),
    )
    (message,) = [message async for message in runner.run(invocation, TrialHatch())]
    assert isinstance(message.message, JsonPayload)
    assert message.message.json_object == {
        "params": invocation.params,
        "user_id": "u",
        "conversation_id": "c",
        "app_id": "a",
        "message_id": "m",
        "credentials": {"tool_credentials": {"tool": "ref"}},
        "model": invocation.model.model_dump(),
        "tools": [tool.model_dump() for tool in invocation.tools],
        "history": [message.model_dump() for message in invocation.history],
        "files": [file.model_dump() for file in invocation.files],
    }


async def test_an_invoke_with_few_keywords_is_given_those(runner: Runner) -> None:
    run = runner.run(Invocation("FewKeywords", {}, user_id="u"), TrialHatch())
    assert [text_of(message) async for message in run] == ["u"]


async def test_an_invoke_may_be_a_plain_function_that_returns_an_iterator(runner: Runner) -> None:
    assert len(await messages(runner, "Returned")) == 12
    assert await texts(runner, "Listed") == ["a", "b"]


async def test_what_a_strategy_changes_after_the_fact_changes_nothing_here(runner: Runner) -> None:
    given = ["given"]
    (message,) = await messages(runner, "Changing", given=given)
    assert isinstance(message.message, JsonPayload)
    assert message.message.json_object == {"state": "sent"}
    assert given == ["given"]


async def test_a_lone_surrogate_becomes_the_replacement_character(runner: Runner) -> None:
    async def echo(request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        yield ToolResult(ascii(request.arguments))

    text, meta, json, result = await messages(runner, "Surrogates", TrialHatch(echo=echo))
    assert text_of(text) == "a\ufffd b"
    assert meta.meta == {"name": "\ufffd"}
    assert isinstance(json.message, JsonPayload)
    assert json.message.json_object == {"k\ufffd": ["\ufffd"]}
    assert "word" in text_of(result)


@pytest.mark.parametrize("kind", ["text", "json"])
async def test_a_message_of_six_mebibytes_goes_through(runner: Runner, kind: str) -> None:
    (message,) = await messages(runner, "Large", kind=kind, size=6 * MIB)
    payload = message.message
    whole = payload.json_object if isinstance(payload, JsonPayload) else text_of(message)
    assert whole in ("x" * (6 * MIB), {"x": "y" * (6 * MIB)})


@pytest.mark.parametrize("kind", ["text", "json"])
async def test_a_message_over_the_limit_is_refused_with_its_size_and_the_limit(runner: Runner, kind: str) -> None:
    with pytest.raises(LimitExceededError, match=rf"a {kind} message of \d{{7,}} bytes .* limit of {8 * MIB} bytes"):
        await messages(runner, "Large", kind=kind, size=9 * MIB)


@pytest.mark.parametrize("size", [1, MIB, MIB + 1, 6 * MIB, 20 * MIB + 7])
async def test_blobs_are_split_and_joined(runner: Runner, size: int) -> None:
    got = await messages(runner, "Large", kind="blob", size=size)
    if size <= MIB:
        assert [message.type for message in got] == ["blob"]
        return
    joiner, whole = BlobJoiner(64 * MIB), []
    for message in got:
        assert isinstance(message.message, BlobChunkPayload)
        assert len(message.message.blob) <= MIB
        whole.append(joiner.add(message.message, message.meta or {}))
    assert [joined is None for joined in whole] == [True] * (len(got) - 1) + [False]
    assert whole[-1] is not None
    assert (whole[-1].data, whole[-1].meta) == (bytes(size), {"filename": "f", "mime_type": "m"})


async def test_requests_and_answers_of_six_mebibytes_go_both_ways(runner: Runner) -> None:
    hatch = TrialHatch(Chunks(1), echo=says("r" * (6 * MIB)))
    assert await texts(runner, "Large", hatch, kind="prompt", size=6 * MIB) == ["5"]
    asked = hatch.requests[0]
    assert isinstance(asked, ModelRequest)
    assert asked.messages[0].content == "z" * (6 * MIB)
    assert await texts(runner, "Large", kind="question", size=0, query="q" * (6 * MIB)) == [str(6 * MIB)]
    assert await texts(runner, "Large", hatch, kind="arguments", size=6 * MIB) == ["r" * (6 * MIB)]

"""Calls of tools: what comes of them, and how they are given up."""

import asyncio
import json
from contextlib import aclosing

import pytest

from enfilade.agent import AgentConfig
from enfilade.candidate import Isolation
from enfilade.config import Config
from enfilade.host import Host
from enfilade.tools.entry import ToolEntry
from enfilade.tools.limits import ToolLimits
from enfilade_sdk.errors import ErrorCode
from enfilade_sdk.messages import BlobPayload, LogStatus, MessageType, log_of
from enfilade_sdk.prompts import ToolRequest
from tests.support.mcp_setup import Record, mcp_engine, server, until
from tests.support.tool_calls import call


async def until_cancelled(record: Record, number: int) -> list[int]:
    """Waits until the server was told that many times to give a call up; gives the ids of these calls."""
    await until(lambda: len(record.of("notifications/cancelled")) >= number)
    return [message["params"]["requestId"] for message in record.of("notifications/cancelled")]


async def test_calls_that_run_out_of_time_or_are_given_up_are_cancelled_at_the_server(record: Record) -> None:
    settings = server("Good", record.path, env={"LATE": "0.6"})
    slow = ToolEntry(tool="mcp:harbour:slow", timeout=0.1, required=True)
    async with mcp_engine({"harbour": settings}, slow, "mcp:harbour:quick") as engine:
        late = await call(engine, "slow")
        assert late.text.startswith("the tool slow did not end within 0.1 s")
        assert late.result.details["code"] == ErrorCode.DEADLINE.value
        given_up = asyncio.create_task(call(engine, "slow"))
        await until(lambda: len(record.of("tools/call")) == 2)
        given_up.cancel()
        ids = await until_cancelled(record, 2)
        assert ids == [message["id"] for message in record.of("tools/call")]
        await asyncio.sleep(0.7)  # the late answers arrive now
        quick = await call(engine, "quick")
        assert quick.text == "its own"
        assert engine.abandoned == 0


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_cancelling_a_run_cancels_its_call_at_the_server(isolation: Isolation, record: Record) -> None:
    config = Config(mcp={"harbour": server("Good", record.path)}, isolation=isolation)
    agent = AgentConfig(model="demo", tools=({"tool": "mcp:harbour:slow"},))
    async with Host(config) as host:
        run = asyncio.create_task(host.ask(agent, "Please call slow"))
        await until(lambda: bool(record.of("tools/call")), 30)
        run.cancel()
        [cancelled] = await until_cancelled(record, 1)
        assert cancelled == record.of("tools/call")[0]["id"]
        await asyncio.wait({run})


async def test_closing_the_messages_of_a_call_cancels_it_too(record: Record) -> None:
    async with mcp_engine({"harbour": server("Good", record.path)}, "mcp:harbour:steps") as engine:
        async with aclosing(engine.invoke(ToolRequest("steps", "{}"))) as items:
            async for _ in items:
                break
        [cancelled] = await until_cancelled(record, 1)
        assert cancelled == record.of("tools/call")[0]["id"]


async def test_a_call_that_was_answered_is_not_cancelled(record: Record) -> None:
    async with mcp_engine({"harbour": server("Good", record.path)}, "mcp:harbour:quick") as engine:
        await call(engine, "quick")
    assert record.of("notifications/cancelled") == []
    assert [message["method"] for message in record.messages] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
    ]


async def test_a_server_may_have_a_time_limit_of_its_own() -> None:
    async with mcp_engine({"harbour": server("Good", timeout=0.1)}, "mcp:harbour:slow") as engine:
        assert (await call(engine, "slow")).text.startswith("the tool slow did not end within 0.1 s")


async def test_a_server_that_stops_reading_blocks_its_calls_and_nothing_else(record: Record) -> None:
    limits = ToolLimits(timeout=0.3)
    servers = {"harbour": server("ReadsNothing"), "other": server("Pages")}
    async with mcp_engine(servers, "mcp:harbour:echo", "mcp:other", limits=limits) as engine:
        large = {"text": "x" * 300_000}
        calls = await asyncio.gather(*(call(engine, "echo", large) for _ in range(5)), call(engine, "t01"))
        assert all("did not end within 0.3 s" in done.text for done in calls[:-1])
        assert calls[-1].text == "t01 was called"


async def test_many_calls_at_once_each_get_their_own_answer() -> None:
    async with mcp_engine({"harbour": server("Good")}, "mcp:harbour:echo") as engine:
        texts = [f"number {number}" for number in range(100)]
        done = await asyncio.gather(*(call(engine, "echo", {"text": text}) for text in texts))
    assert [one.text for one in done] == texts


async def test_progress_is_one_log_that_is_brought_up_to_date() -> None:
    async with mcp_engine({"harbour": server("Good")}, "mcp:harbour:steps") as engine:
        done = await call(engine, "steps")
    logs = [log_of(message) for message in done.messages if message.type is MessageType.LOG]
    assert {log.id for log in logs} == {logs[0].id}
    assert logs[0].label == "progress of steps"
    assert logs[0].data == {"progress": 1, "total": 3, "message": "step 1"}
    assert [log.status for log in logs][-1] is LogStatus.SUCCESS
    assert logs[-1].data["progress"] == 3
    assert done.text == "three steps"


async def test_parts_of_a_result_become_messages_for_the_model_and_the_user() -> None:
    async with mcp_engine({"harbour": server("Good")}, "mcp:harbour:everything") as engine:
        done = await call(engine, "everything")
    assert done.text.splitlines() == [
        "one",
        "two",
        "an image (image/png, 70 bytes) has been given to the user",
        "a file (audio/wav, 4 bytes) has been given to the user",
        "embedded",
        "a file (chart.pdf, application/pdf, 8 bytes) has been given to the user",
        "Oban: tide table",
        "result link: https://tides.example/oban",
        '{"type":"hologram","depth":3}',
        '{"high":"06:10"}',
    ]
    [pdf] = [m for m in done.messages if (m.meta or {}).get("filename") == "chart.pdf"]
    assert isinstance(pdf.message, BlobPayload)
    assert pdf.message.blob == b"%PDF-1.4"


async def test_what_the_server_says_of_a_failure_reaches_the_model_in_its_own_words() -> None:
    async with mcp_engine({"harbour": server("Good")}) as engine:
        failed = await call(engine, "fail")
        refused = await call(engine, "refuse")
    assert failed.result.is_error
    assert failed.text == "the tool fail failed: cannot read /srv/tides/oban"
    assert refused.result.is_error
    assert refused.text == (
        "the tool refuse failed: the MCP server 'harbour' refused: no such port: /harbour/oban (error -32602)"
    )
    assert refused.result.details["code"] == ErrorCode.TOOL_FAILED.value
    assert refused.result.details["provider"] == "mcp:harbour"


async def test_an_error_that_nobody_can_write_down_is_an_error_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "enfilade.plugin.mcp.harbour")
    async with mcp_engine({"harbour": server("Good")}, "mcp:harbour:abyss") as engine:
        done = await call(engine, "abyss")
    assert "refused: too deep (error -1) (a value that is not shown: it is nested more than 100 levels" in done.text
    assert "nested more than 100 levels" in caplog.text


async def test_lies_about_ids_are_passed_over() -> None:
    async with mcp_engine({"harbour": server("Liar")}, "mcp:harbour:quick") as engine:
        assert [(await call(engine, "quick")).text for _ in range(3)] == ["its own"] * 3


async def test_a_server_that_asks_its_client_is_answered(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "enfilade.plugin.mcp.harbour")
    async with mcp_engine({"harbour": server("Asks")}, "mcp:harbour:quick") as engine:
        answers = json.loads((await call(engine, "quick")).text)
    assert answers == [
        {"id": "a", "result": {}},
        {"id": "b", "error": {"code": -32601, "message": "this client has no method sampling/createMessage"}},
    ]
    assert '{"tide":"rising"}' in caplog.text

"""Servers that die, hang and come back, and what is left of them: nothing."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from enfilade.isolation import guardian
from enfilade.tools.entry import ToolEntry
from enfilade.tools.loader import load_tools
from enfilade.tools.mcp.backoff import Backoff
from enfilade.tools.mcp.failure import McpError
from enfilade.tools.mcp.settings import McpSettings
from tests.support.leftovers import alive
from tests.support.mcp_setup import Record, mcp_engine, mcp_registry, server
from tests.support.tool_calls import call

SECONDS = 10.0


async def test_a_server_that_dies_in_a_call_is_an_error_for_the_model_and_comes_back(
    record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    async with mcp_engine({"harbour": server("DiesOnce", record.path)}) as engine:
        died = await call(engine, "quick")
        assert died.result.is_error
        assert died.text == (
            "the tool quick failed: the MCP server 'harbour' broke off: exit code 3; its last lines:\n"
            "  the harbour is on fire"
        )
        assert (await call(engine, "quick")).text == "alive again"
    assert "the harbour is on fire; it is started again when it is next needed" in caplog.text


async def test_every_open_call_learns_that_the_server_died() -> None:
    async with mcp_engine({"harbour": server("Good")}) as engine:
        calls = [asyncio.create_task(call(engine, "slow")) for _ in range(3)]
        await call(engine, "quick")
        died = await call(engine, "die")
        done = await asyncio.gather(*calls)
    assert {one.text.partition(" failed: ")[2] for one in [died, *done]} == {
        "the MCP server 'harbour' broke off: exit code 3; its last lines:\n  the harbour is on fire"
    }


async def test_a_server_that_closes_its_stdout_is_as_good_as_dead() -> None:
    async with mcp_engine({"harbour": server("ClosesStdout")}, "mcp:harbour:quick") as engine:
        done = await call(engine, "quick")
    assert done.text == "the tool quick failed: the MCP server 'harbour' broke off: still running; it printed nothing"


async def test_a_server_that_dies_again_and_again_is_tried_less_and_less_often() -> None:
    entry = ToolEntry(tool="mcp:harbour", required=True)
    with mcp_registry({"harbour": server("DiesAtStart")}) as registry:
        source = registry.source("mcp:harbour")
        loop, began = asyncio.get_running_loop(), asyncio.get_running_loop().time()
        for _ in range(3):
            with pytest.raises(McpError, match="no licence for this harbour"):
                await source.load()
        assert loop.time() - began >= 0.5
        await source.aclose()
        with pytest.raises(McpError, match="no licence for this harbour"):
            await load_tools([entry], registry)


async def test_who_would_have_to_wait_too_long_for_a_server_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enfilade.tools.mcp.server.PATIENCE", 0.0)
    with mcp_registry({"harbour": server("DiesAtStart")}) as registry:
        source = registry.source("mcp:harbour")
        with pytest.raises(McpError, match="broke off: exit code 2"):
            await source.load()
        with pytest.raises(McpError, match=r"(?s)has failed; it is tried again in \d+ s. the MCP server .* no licence"):
            await source.load()
        await source.aclose()


async def test_a_server_that_never_answers_is_given_up_with_what_it_said() -> None:
    with pytest.raises(McpError) as caught:
        async with mcp_engine({"harbour": server("Hangs", start_timeout=0.5)}):
            pass
    assert caught.value.message == (
        "the MCP server 'harbour' did not answer within 0.5 s: still running; its last lines:\n  waiting for the tide"
    )


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            McpSettings(command="no-such-program -x"),
            "there is no program 'no-such-program'; install it, or give its path",
        ),
        (McpSettings(command=sys.executable, cwd=Path("nowhere")), "there is no folder "),
        (McpSettings(command="/dev/null"), "/dev/null: Permission denied"),
        (McpSettings(command=sys.executable, args=("\0",)), "embedded null byte"),
        (McpSettings(command=sys.executable, env_from=("NOT_SET_ANYWHERE",)), "NOT_SET_ANYWHERE, which env_from names"),
    ],
)
async def test_a_server_that_cannot_be_started_is_named_with_the_reason(settings: McpSettings, text: str) -> None:
    with pytest.raises(McpError) as caught:
        async with mcp_engine({"harbour": settings}):
            pass
    assert text in caught.value.message


async def test_a_stubborn_server_ends_with_everything_it_has_started() -> None:
    async with mcp_engine({"harbour": server("Stubborn")}, "mcp:harbour:quick") as engine:
        pids = [int(pid) for pid in (await call(engine, "quick")).text.split()]
        assert all(map(alive, pids))
    assert not any(map(alive, pids))


def test_no_process_belongs_to_a_place_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("this would end every process of the user"))
    assert guardian.end_strays(["", "/", "//"]) == 0


async def test_a_killed_host_takes_its_servers_with_it(tmp_path: Path) -> None:
    program = tmp_path / "host.py"
    program.write_text(
        "import asyncio\n"
        "from tests.support.mcp_setup import mcp_engine, server\n"
        "from tests.support.tool_calls import call\n"
        "async def main():\n"
        "    async with mcp_engine({'harbour': server('Stubborn')}, 'mcp:harbour:quick') as engine:\n"
        "        print((await call(engine, 'quick')).text, flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    host = await asyncio.create_subprocess_exec(
        sys.executable, str(program), env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert host.stdout is not None
    async with asyncio.timeout(SECONDS * 3):
        pids = [int(pid) for pid in (await host.stdout.readline()).split()]
    processes = [psutil.Process(pid) for pid in pids]
    host.send_signal(signal.SIGKILL)
    await host.wait()
    _, left = await asyncio.to_thread(psutil.wait_procs, processes, timeout=SECONDS)
    assert [process for process in left if alive(process.pid)] == []


async def test_sources_are_closed_in_any_order_and_by_any_task() -> None:
    servers = {name: server("Pages", prefix=name) for name in ("a", "b", "c")}
    with mcp_registry(servers) as registry:
        sources = [registry.source(f"mcp:{name}") for name in servers] + [registry.source("mcp:b:t01")]
        await asyncio.gather(*(source.load() for source in sources))
        for place in (1, 0, 3, 2):
            await asyncio.create_task(sources[place].aclose())
        await sources[0].aclose()  # once more does nothing


async def test_a_server_is_started_once_for_all_who_use_it(record: Record) -> None:
    entries = [ToolEntry(tool=f"mcp:harbour:{name}", required=True) for name in ("quick", "echo")]
    with mcp_registry({"harbour": server("Good", record.path)}) as registry:
        first, second = await asyncio.gather(*(load_tools([entry], registry) for entry in entries))
        await first.aclose()
        assert (await call(second, "echo", {"text": "still there"})).text == "still there"
        await second.aclose()
        assert len(record.of("initialize")) == 1
        third = await load_tools(entries, registry)
        await third.aclose()
    assert len(record.of("initialize")) == 2


async def test_a_tool_whose_server_was_stopped_starts_it_no_more() -> None:
    with mcp_registry({"harbour": server("Good")}) as registry:
        engine = await load_tools([ToolEntry(tool="mcp:harbour")], registry)
        await engine.aclose()
        done = await call(engine, "quick")
    assert done.text == "the tool quick failed: the MCP server 'harbour' was stopped, since nobody used it any more"


async def test_a_start_that_nobody_waits_for_any_more_leaves_nothing() -> None:
    with mcp_registry({"harbour": server("Hangs")}) as registry:
        source = registry.source("mcp:harbour")
        loading = asyncio.create_task(source.load())
        await asyncio.sleep(0.2)
        loading.cancel()
        await asyncio.wait({loading})
        again = asyncio.create_task(source.load())
        await asyncio.sleep(0.05)
        await source.aclose()
        with pytest.raises(McpError, match="the MCP server 'harbour' was stopped"):
            await again


async def test_a_server_gets_only_the_variables_it_was_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "hidden")
    monkeypatch.setenv("HARBOUR_TOKEN", "handed over")
    settings = server("Good", env={"PORT_NAME": "Oban"}, env_from=["HARBOUR_TOKEN"], cwd=tmp_path)
    async with mcp_engine({"harbour": settings}, "mcp:harbour:environment") as engine:
        done = await call(engine, "environment")
    [message] = done.messages
    seen = message.to_json()["message"]["json_object"]
    assert seen["folder"] == str(tmp_path)
    given = seen["environment"]
    assert given["PORT_NAME"] == "Oban"
    assert given["HARBOUR_TOKEN"] == "handed over"
    assert "SECRET_OF_THE_HOST" not in given
    allowed = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}
    assert set(given) - allowed <= {"SSL_CERT_FILE", "SSL_CERT_DIR", "PORT_NAME", "HARBOUR_TOKEN", "ENFILADE_GUEST"}


def test_the_time_between_tries_doubles_up_to_a_minute_and_starts_anew_with_a_success() -> None:
    now = 0.0
    backoff = Backoff(lambda: now)
    waits = []
    for _ in range(10):
        backoff.failed()
        waits.append(backoff.wait)
        now += backoff.wait
    assert waits == [0, 0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    backoff.succeeded()
    backoff.failed(seconds=3.0)
    assert backoff.wait == 3.0

"""What a server prints: messages in any shape, and much that is no message."""

import asyncio
import logging
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.tools.limits import ToolLimits
from enfilade.tools.mcp.lines import BURST, RATE, Allowance, Lines, OverlongLineError
from tests.support.mcp_setup import mcp_engine, server
from tests.support.tool_calls import call

STRAY = "the MCP server 'harbour' printed to its stdout, where only messages belong: "


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings of the transport."""
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING and r.name.endswith("mcp.stdio")]


async def test_banners_are_logged_with_the_servers_name_and_the_messages_between_them_are_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with mcp_engine({"harbour": server("Banners")}) as engine:
        assert (await call(engine, "quick")).text == "its own"
    assert warnings(caplog) == [
        STRAY + "harbour-tools build 7 starting",
        STRAY + "★ listening",
        STRAY + '{"level": "info", "msg": "json log, not rpc"}',
        STRAY + "debug: listing",
    ]


async def test_a_server_that_prints_more_than_anybody_reads_is_warned_of_once_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with mcp_engine({"harbour": server("ManyBanners")}) as engine:
        assert (await call(engine, "quick")).text == "its own"
    assert len(warnings(caplog)) == 21
    assert warnings(caplog)[-1] == "the MCP server 'harbour' prints more such lines to its stdout"


@pytest.mark.parametrize("way", ["Pieces", "NotUtf8", "LongLine", "Batch"])
async def test_answers_may_come_in_any_shape(way: str, caplog: pytest.LogCaptureFixture) -> None:
    async with mcp_engine(
        {"harbour": server(way)}, "mcp:harbour:quick", limits=ToolLimits(result_bytes=2**22)
    ) as engine:
        done = await call(engine, "quick")
    expected = {"Pieces": "its own", "NotUtf8": "f�r", "LongLine": "x" * 2**21, "Batch": "batched"}
    assert done.text == expected[way]
    assert warnings(caplog) == ([STRAY + "�� rubbish"] if way == "NotUtf8" else [])


async def test_two_answers_may_come_in_one_write() -> None:
    async with mcp_engine({"harbour": server("TwoInOne")}, "mcp:harbour:quick", "mcp:harbour:echo") as engine:
        quick, echo = await asyncio.gather(call(engine, "quick"), call(engine, "echo", {"text": "both"}))
    assert (quick.text, echo.text) == ("its own", "both")


async def test_control_characters_and_secrets_do_not_reach_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARBOUR_PASS", "opensesame")
    caplog.set_level("DEBUG")
    settings = server("TellsSecrets", env_from=["HARBOUR_PASS"])
    async with mcp_engine({"harbour": settings}, "mcp:harbour:quick") as engine:
        done = await call(engine, "quick")
    assert done.text.endswith("wrong password *** (error -1)")
    assert STRAY + "banner ***" in caplog.text
    assert "using ***" in caplog.text
    assert "opensesame" not in caplog.text
    assert "opensesame" not in repr(settings)


async def test_a_server_that_floods_its_stdout_is_read_to_its_answer_and_costs_the_others_little() -> None:
    servers = {"harbour": server("FloodsLines"), "other": server("Good")}
    async with mcp_engine(servers, "mcp:harbour:quick", "mcp:other:echo") as engine:
        assert (await call(engine, "quick")).text == "its own"
        began, used = time.monotonic(), time.process_time()
        while time.monotonic() - began < 0.5:
            assert (await call(engine, "echo", {"text": "a word"})).text == "a word"
            await asyncio.sleep(0.05)
        assert time.process_time() - used < 0.4  # unslowed, reading the flood would take all of it


async def test_news_without_end_are_given_now_and_then() -> None:
    async with mcp_engine({"harbour": server("FloodsProgress")}, "mcp:harbour:quick") as engine:
        done = await call(engine, "quick")
    assert done.text == "its own"
    assert len(done.messages) < 100


async def test_questions_without_end_do_not_pile_up_answers() -> None:
    async with mcp_engine({"harbour": server("FloodsPings")}, "mcp:harbour:quick") as engine:
        assert (await call(engine, "quick")).text == "its own"


def test_an_endless_line_is_an_error_at_its_limit_and_not_before() -> None:
    lines = Lines(limit=10)
    assert list(lines.feed(b"x" * 10)) == []
    with pytest.raises(OverlongLineError):
        list(lines.feed(b"x"))


async def test_a_server_that_prints_a_line_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enfilade.tools.mcp.stdio.Lines", lambda: Lines(2**20))
    async with mcp_engine({"harbour": server("FloodsOneLine")}, "mcp:harbour:quick") as engine:
        done = await call(engine, "quick")
    assert done.text == "the tool quick failed: the MCP server 'harbour' sent a line of more than 100,663,296 bytes"


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_lines_are_the_same_however_the_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    lines = Lines()
    places = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    pieces = [data[a:b] for a, b in pairwise(places)]
    found = [line for piece in pieces for line in lines.feed(piece)]
    assert [*found, lines.rest()] == data.split(b"\n")


def test_who_says_too_much_is_left_unread_for_as_long_as_it_takes() -> None:
    now = 0.0
    allowance = Allowance(lambda: now)
    allowance.spend(BURST - 1000)
    assert allowance.pause() == 0
    allowance.spend(RATE)
    assert 0.9 < allowance.pause() < 1.1
    now = 1.1
    assert allowance.pause() == 0
    now = 1000.0
    allowance.spend(BURST)
    assert allowance.pause() < 0.01

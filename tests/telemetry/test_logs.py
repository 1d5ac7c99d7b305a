import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from enfilade.briefing import Question
from enfilade.telemetry.log_lines import JsonLines, RunMark
from enfilade.telemetry.place import here
from enfilade_sdk.messages import MessageType
from tests.layers.scenario import Isolation, hosted, told
from tests.support.collector import Collector
from tests.support.model_turns import text_turn
from tests.telemetry.traced import traced

EACH = pytest.mark.parametrize("isolation", ["inprocess", "process"])

_log = logging.getLogger("harbour")


class Lines:
    """Log records as JSON Lines, as they are made."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(JsonLines())

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    made = Lines()
    root, before = logging.getLogger(), logging.getLogger().level
    root.addHandler(made.handler)
    root.setLevel(logging.INFO)
    yield made
    root.removeHandler(made.handler)
    root.setLevel(before)


async def look(what: str) -> str:
    """Looks."""
    await asyncio.sleep(0)
    _log.info("looked at %s", what)
    return what


def count(what: str) -> str:
    """Counts, in a thread."""
    _log.info("counted %s", what)
    return what


@EACH
async def test_every_record_of_a_run_says_which_run_it_is(isolation: Isolation, lines: Lines) -> None:
    tools = [look, count]
    async with hosted(None, isolation=isolation, tools=tools, config={"log_format": "json"}) as host:
        asked = [told(["look", {"what": f"l{i}"}], ["count", {"what": f"c{i}"}], tools=tools) for i in range(12)]
        outcomes = await asyncio.gather(*(host.ask(agent, "?") for agent in asked))
        _log.info("between runs")
    said = {line["message"]: line for line in lines.all if line["logger"] == "harbour"}
    assert "run_id" not in said.pop("between runs")
    for number, outcome in enumerate(outcomes):
        for message in (f"looked at l{number}", f"counted c{number}"):
            assert (said[message]["run_id"], said[message]["plugin"]) == (outcome.run_id, "trial")
    assert said["looked at l1"].keys() == {"time", "level", "logger", "message", "run_id", "plugin"}


async def test_records_of_what_comes_before_the_strategy_say_so_too(lines: Lines) -> None:
    async with hosted(None, isolation="process", config={"log_format": "json"}) as host:
        first = await host.ask(told({"say": "x"}), "?")
        await host.ask(told({"say": "y"}), "?")
    starting = [line for line in lines.all if line["message"].startswith("plugin 'trial' is starting")]
    assert [line["run_id"] for line in starting] == [first.run_id]
    ends = [line for line in lines.all if "is stopped" in line["message"] or "is draining" in line["message"]]
    assert ends
    assert all("run_id" not in line for line in ends)


async def test_a_run_that_nobody_reads_is_let_go_when_its_time_is_used_up() -> None:
    freed = asyncio.Event()

    async def hold() -> str:
        """Holds on."""
        try:
            await asyncio.Event().wait()
        finally:
            freed.set()
        return "never"

    async with hosted(None, tools=[hold], config={"log_format": "json"}) as host:
        run = host.run(told({"say": "x"}, ["hold", {}], tools=[hold]), Question("?", seconds=0.5))
        assert (await anext(aiter(run))).type is MessageType.TEXT
        async with asyncio.timeout(30):
            await freed.wait()  # nobody reads meanwhile
        await run.aclose()


async def test_with_telemetry_records_have_the_trace_too(lines: Lines) -> None:
    async with Collector() as collector, traced(collector, tools=[look]) as host:
        outcome = await host.ask(told(["look", {"what": "x"}], tools=[look]), "?")
    [line] = [line for line in lines.all if line["message"] == "looked at x"]
    tool = collector.one("execute_tool")
    assert (line["trace_id"], line["span_id"], line["run_id"]) == (tool.trace, tool.id, outcome.run_id)


async def test_the_readers_own_records_are_no_part_of_the_run(lines: Lines) -> None:
    async with hosted(None, [text_turn("a")], config={"log_format": "json"}) as host:
        async for _ in host.run(told({"say": "x"}, "ask"), "?"):
            assert here() is None
            _log.info("read")
    assert all("run_id" not in line for line in lines.all if line["message"] == "read")


async def test_what_a_run_leaves_behind_is_no_part_of_it(lines: Lines) -> None:
    left: list[asyncio.Task[None]] = []
    go = asyncio.Event()

    async def later() -> None:
        _log.info("during")
        await go.wait()
        _log.info("after")

    async def leave() -> str:
        """Leaves something behind."""
        left.append(asyncio.create_task(later()))
        await asyncio.sleep(0)
        return "left"

    async with hosted(None, tools=[leave], config={"log_format": "json"}) as host:
        outcome = await host.ask(told(["leave", {}], tools=[leave]), "?")
        go.set()
        await asyncio.gather(*left)
    marks = {line["message"]: line.get("run_id") for line in lines.all if line["logger"] == "harbour"}
    assert marks == {"during": outcome.run_id, "after": None}


def test_what_a_plugin_prints_is_its_own_and_no_run_s() -> None:
    record = logging.LogRecord("enfilade.plugin.harbour", logging.WARNING, __file__, 1, "wet %s", ("feet",), None)
    line = json.loads(JsonLines().format(record))
    assert (line["message"], line["plugin"], line["level"]) == ("wet feet", "harbour", "warning")


def test_an_exception_is_in_the_line_of_its_record() -> None:
    try:
        raise ValueError("wet\nfeet")
    except ValueError as error:
        record = _log.makeRecord(_log.name, logging.ERROR, __file__, 1, "bad", (), (ValueError, error, None))
    text = JsonLines().format(record)
    assert "\n" not in text
    assert json.loads(text)["exception"].startswith("ValueError: wet\nfeet")


async def test_a_format_of_ones_own_can_have_the_marks_too() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(run_id)s %(plugin)s %(message)s"))
    handler.addFilter(RunMark())
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        async with hosted(None, tools=[look], config={"log_format": "json"}) as host:
            outcome = await host.ask(told(["look", {"what": "x"}], tools=[look]), "?")
        _log.info("done")
    finally:
        _log.removeHandler(handler)
        _log.setLevel(logging.NOTSET)
    assert stream.getvalue() == f"{outcome.run_id} trial looked at x\n  done\n"

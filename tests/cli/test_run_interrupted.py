"""Ctrl-C and SIGTERM at every moment: all stops within two seconds, and nothing is left behind."""

import asyncio
import os
import select
import signal
from collections.abc import Sequence

import pytest

from tests.support.enfilade_command import Enfilade, Finished, Running, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import call_turn, text_turn

STOPPED_WITHIN = 2.0

TOOLS = """
import asyncio
import time


def sleeper() -> str:
    '''Sleeps in a thread.'''
    print("the tool sleeps")
    time.sleep(3600)
    return "late"


async def waiter() -> str:
    '''Waits on the loop.'''
    print("the tool sleeps")
    await asyncio.sleep(3600)
    return "late"
"""

PROGRAM = """
import subprocess


def program() -> str:
    '''Waits for a program, which has started another one and takes no notice of SIGTERM.'''
    subprocess.run(["sh", "-c", "trap '' TERM; sleep 3600 & echo it waits >&2; while :; do sleep 3600; done"])
    return "late"
"""

STUBBORN = """
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)


class Stubborn:
    def get_parameters(self):
        return []

    def invoke(self, *, params):
        yield "begun"
        while True:
            try:
                time.sleep(3600)
            except BaseException:
                pass
"""


async def stopped(enfilade: Enfilade, running: Running, number: signal.Signals) -> Finished:
    """Sends a signal and checks that everything has ended in time."""
    running.signal(number)
    done = await running.finished()
    assert done.seconds < STOPPED_WITHIN
    assert await running.survivors() == []
    assert enfilade.left_behind() == []
    assert done.code == 128 + number
    assert "Traceback" not in done.err
    return done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("isolation", ["process", "inprocess"])
async def test_a_model_call_is_given_up(enfilade: Enfilade, number: signal.Signals, isolation: str) -> None:
    async with ModelServer([text_turn("Half", end="hang", done=False)]) as server:
        words = ("run", "q", "--json", "--isolation", isolation, *at(server.base_url))
        async with enfilade.running(*words) as running:
            await running.until(lambda: b'"Half"' in running.out)
            done = await stopped(enfilade, running, number)
        await server.until(lambda: server.dropped == 1)
    assert done.outcome["status"] == "cancelled"
    assert done.outcome["error"]["code"] == "cancelled"
    assert done.outcome["answer"] == "Half"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("tool", ["sleeper", "waiter"])
async def test_a_tool_is_given_up_also_one_that_sleeps_in_a_thread(
    enfilade: Enfilade, number: signal.Signals, tool: str
) -> None:
    enfilade.write("tools.py", TOOLS)
    async with ModelServer([call_turn(tool)]) as server:
        words = ("run", "q", "--json", "-t", f"tools.py:{tool}", *at(server.base_url))
        async with enfilade.running(*words) as running:
            await running.until(lambda: "the tool sleeps" in running.err)
            done = await stopped(enfilade, running, number)
    assert done.outcome["status"] == "cancelled"
    assert done.outcome["rounds"][0]["calls"][0]["tool"] == tool


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_program_that_a_tool_has_started_ends_too(enfilade: Enfilade, number: signal.Signals) -> None:
    enfilade.write("tools.py", PROGRAM)
    async with ModelServer([call_turn("program")]) as server:
        words = ("run", "q", "--json", "-t", "tools.py:program", *at(server.base_url))
        async with enfilade.running(*words) as running:
            await running.until(lambda: "it waits" in running.err)
            done = await stopped(enfilade, running, number)
    assert done.outcome["status"] == "cancelled"


@pytest.mark.parametrize(
    "words", [("run", "q", "-s", "slow:Slow"), ("plugins", "check", "slow:Slow"), ("chat", "-s", "slow:Slow")]
)
async def test_a_plugin_that_starts_is_given_up(enfilade: Enfilade, words: Sequence[str]) -> None:
    enfilade.write("slow.py", "import time\nprint('it starts', flush=True)\ntime.sleep(3600)\n")
    async with enfilade.running(*words, "-v") as running:
        await running.until(lambda: "it starts" in running.err)
        await stopped(enfilade, running, signal.SIGINT)


async def test_a_start_that_is_given_up_ends_json_lines_with_an_outcome(enfilade: Enfilade) -> None:
    enfilade.write("slow.py", "import time\nprint('it starts', flush=True)\ntime.sleep(3600)\n")
    async with enfilade.running("run", "q", "--json", "-v", "-s", "slow:Slow") as running:
        await running.until(lambda: "it starts" in running.err)
        done = await stopped(enfilade, running, signal.SIGINT)
    assert done.outcome["status"] == "cancelled"


async def test_a_plugin_that_will_not_stop_is_ended(enfilade: Enfilade) -> None:
    enfilade.write("stubborn.py", STUBBORN)
    async with enfilade.running("run", "q", "--json", "-s", "stubborn:Stubborn") as running:
        await running.until(lambda: b'"begun"' in running.out)
        done = await stopped(enfilade, running, signal.SIGINT)
    assert done.outcome["status"] == "cancelled"


async def test_a_strategy_in_this_process_that_will_not_stop_is_left_to_die_with_it(enfilade: Enfilade) -> None:
    enfilade.write("stubborn.py", STUBBORN.replace("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n", ""))
    words = ("run", "q", "--json", "-s", "stubborn:Stubborn", "--isolation", "inprocess")
    async with enfilade.running(*words) as running:
        await running.until(lambda: b'"begun"' in running.out)
        done = await stopped(enfilade, running, signal.SIGINT)
    assert done.outcome["status"] == "cancelled"


async def test_loading_the_command_itself_is_given_up_without_a_word(enfilade: Enfilade) -> None:
    enfilade.write("click.py", "import os, time\nos.write(2, b'it loads\\n')\ntime.sleep(3600)\n")
    enfilade.environment["PYTHONPATH"] = str(enfilade.folder)
    async with enfilade.running("run", "q") as running:
        await running.until(lambda: "it loads" in running.err)
        running.signal(signal.SIGINT)
        done = await running.finished()
    assert (done.code, done.err) == (-signal.SIGINT, "it loads\n")


async def test_reading_the_question_is_given_up(enfilade: Enfilade) -> None:
    async with enfilade.running("run", "-", "--json", "-v") as running:
        await running.until(lambda: "reading the question from standard input" in running.err)
        done = await stopped(enfilade, running, signal.SIGINT)
    assert done.outcome["status"] == "cancelled"


async def test_output_that_nobody_takes_does_not_keep_it_alive(enfilade: Enfilade) -> None:
    enfilade.write(
        "flood.py",
        """
class Flood:
    def get_parameters(self):
        return []

    def invoke(self, *, params):
        while True:
            yield "x" * 1000
""",
    )
    read, write = os.pipe()
    try:
        async with enfilade.running("run", "q", "-s", "flood:Flood", stdout=write) as running:
            async with asyncio.timeout(20):
                while select.select([], [write], [], 0)[1]:  # noqa: ASYNC110 - nothing tells when a pipe is full
                    await asyncio.sleep(0.02)
            await stopped(enfilade, running, signal.SIGTERM)
    finally:
        os.close(read)
        os.close(write)


async def test_a_second_signal_ends_it_on_the_spot(enfilade: Enfilade) -> None:
    enfilade.write("stubborn.py", STUBBORN)
    async with enfilade.running("run", "q", "--json", "-s", "stubborn:Stubborn") as running:
        await running.until(lambda: b'"begun"' in running.out)
        running.signal(signal.SIGINT)
        running.signal(signal.SIGTERM)
        done = await running.finished()
        assert await running.survivors() == []
    assert done.seconds < 1.0
    assert done.code == 130
    assert done.outcome["status"] == "cancelled"

"""A plugin that go-plugin serves runs in a guest like any other: no launch line, no token, its own way to end."""

import asyncio
import logging
import sys
from pathlib import Path

import pytest

from enfilade.candidate import Candidate
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.transport.stdio import stdio_data
from tests.support import stock_plugin
from tests.support.faulty_guest import started
from tests.support.leftovers import gone
from tests.support.trial_hatch import TrialHatch, says
from tests.support.trial_run import texts

COMMAND = (sys.executable, str(Path(stock_plugin.__file__)))


async def test_a_stock_plugin_describes_itself_runs_and_ends(
    launcher: Launcher, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="enfilade.plugin.stock")
    async with started(launcher, Candidate(plugin="stock", command=COMMAND)) as guest:
        (described,) = await guest.describe()
        assert (described.name, described.description, described.faults) == ("greeter", "greets", [])
        assert await texts(guest, "greeter", TrialHatch(tool=says("told")), query="hello") == ["hello: told"]
        pid = guest.pid
        await asyncio.wait_for(guest.stop(), 15)
        assert pid is not None
        await gone(pid)
    lines = [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "enfilade.plugin.stock"]
    assert ("WARNING", "plugin configured with a nil SecureConfig") in lines
    assert ("INFO", "asked: hello") in lines  # from its stdout, by way of the stream
    assert ("WARNING", "a warning") in lines  # from its stderr, the same way


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"\x08\x01\x12\x03abc", (1, b"abc")),
        (b"\x12\x00\x08\x02", (2, b"")),
        (b"\x08\x02\x12\x81\x01" + b"x" * 129, (2, b"x" * 129)),
        (b"", (0, b"")),
    ],
)
def test_output_in_a_stream_is_read(message: bytes, expected: tuple[int, bytes]) -> None:
    assert stdio_data(message) == expected


@pytest.mark.parametrize("message", [b"\x08", b"\x12\x05ab", b"\x0d1234", b"\xff" * 20])
def test_output_that_is_none_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match="of a StdioData message"):
        stdio_data(message)

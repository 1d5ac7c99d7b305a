import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from enfilade.environments import command
from enfilade.environments.command import OUTPUT_LIMIT, Ended, Place, run_command
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.hold import take_hold
from tests.environments.processes import processes_naming, until

ENVIRONMENT = {"PATH": os.defpath}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    hold = take_hold(tmp_path, exclusive=True)
    assert hold is not None
    with hold:
        yield Place(tmp_path, hold)


async def shell(script: str, place: Place) -> Ended:
    return await run_command(["/bin/sh", "-c", script], ENVIRONMENT, place)


async def test_a_command_ends_with_its_code_its_output_and_its_last_lines(place: Place) -> None:
    assert await shell("echo out; echo err >&2; printf rest >&2; exit 3", place) == Ended(3, b"out\n", ("err", "rest"))


async def test_a_command_that_says_nothing_on_standard_error_is_known_by_its_output(place: Place) -> None:
    assert await shell("echo one; echo two", place) == Ended(0, b"one\ntwo\n", ("one", "two"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
async def test_a_command_that_a_signal_ended_says_so(place: Place, number: signal.Signals) -> None:
    assert (await shell(f"kill -{number.value} $$", place)).code == -number


async def test_a_command_that_is_not_there_says_so(place: Place) -> None:
    ended = await run_command(["/no/such/tool"], ENVIRONMENT, place)
    assert ended == Ended(127, b"", ("cannot start /no/such/tool: No such file or directory",))


async def test_a_command_has_the_given_variables_and_an_empty_input(place: Place) -> None:
    ended = await run_command(["/bin/sh", "-c", "env | sort; cat"], {"PATH": os.defpath, "A": "1"}, place)
    names = {line.partition("=")[0] for line in ended.output.decode().splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE"} == {"PATH", "A"}


async def test_a_flood_is_read_to_its_end_and_only_its_ends_are_kept(place: Place) -> None:
    ended = await shell("yes flood | head -c 40000000; yes line | head -n 100000 >&2; echo last >&2", place)
    assert len(ended.output) == OUTPUT_LIMIT
    assert len(ended.lines) == 20
    assert ended.lines[-1] == "last"


async def test_a_file_over_the_limit_is_an_error_of_the_command(place: Place) -> None:
    ended = await shell("head -c 5000 /dev/zero > big", Place(place.folder, place.hold, file_bytes=1000))
    assert ended.code == 1
    assert "File too large" in ended.lines[0]
    assert (place.folder / "big").stat().st_size == 1000


async def test_a_command_that_takes_too_long_is_stopped_with_its_children(place: Place) -> None:
    with pytest.raises(InstallError, match=r"sh did not end within 0.5 s and was stopped; try again") as caught:
        await shell("sleep 1000 & sleep 1000", Place(place.folder, place.hold, seconds=0.5))
    assert caught.value.reason is Reason.TIMED_OUT
    await until(lambda: not processes_naming(place.folder), "the children are gone")


async def test_a_cancelled_command_is_stopped_with_its_children(place: Place) -> None:
    task = asyncio.ensure_future(shell("sleep 1000 & touch started; sleep 1000", place))
    await until((place.folder / "started").exists, "the command has started")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not processes_naming(place.folder), "the children are gone")


async def test_a_keeper_that_does_not_end_is_given_up_and_its_pipes_are_let_go(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "STOP_SECONDS", 0.05)
    task = asyncio.ensure_future(shell("echo $PPID > keeper; kill -STOP $PPID; sleep 1000", place))
    keeper = place.folder / "keeper"
    await until(lambda: keeper.exists() and _stopped(keeper.read_text()), "the keeper stands still")
    child = psutil.Process(int(keeper.read_text())).children()[0]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    os.killpg(child.pid, signal.SIGKILL)
    await until(lambda: not processes_naming(place.folder), "all are gone")


def _stopped(pid: str) -> bool:
    return pid.endswith("\n") and psutil.Process(int(pid)).status() == psutil.STATUS_STOPPED


async def test_what_a_command_leaves_behind_is_ended_with_it(place: Place) -> None:
    assert (await shell("sleep 1000 > /dev/null 2>&1 & echo done", place)).code == 0
    await until(lambda: not processes_naming(place.folder), "the child is gone")


async def test_a_daemon_that_keeps_the_pipes_open_delays_nothing(place: Place) -> None:
    begin = time.monotonic()
    ended = await shell("setsid sh -c 'echo $$ > daemon; exec sleep 1000' & while [ ! -s daemon ]; do :; done", place)
    assert ended.code == 0
    assert time.monotonic() - begin < 20
    daemon = psutil.Process(int((place.folder / "daemon").read_text()))
    daemon.kill()
    await until(lambda: not daemon.is_running() or daemon.status() == psutil.STATUS_ZOMBIE, "the daemon is gone")


HOST = """
import asyncio, os, sys
from pathlib import Path
from enfilade.environments.command import Place, run_command
from enfilade.environments.hold import take_hold

folder = Path(sys.argv[1])
hold = take_hold(folder, exclusive=True)
script = "sleep 1000 & touch started; sleep 1000"
asyncio.run(run_command(["/bin/sh", "-c", script], {"PATH": os.defpath}, Place(folder, hold)))
"""


async def test_a_killed_host_takes_its_commands_along_and_only_then_gives_up_its_hold(tmp_path: Path) -> None:
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", HOST, str(tmp_path))
    await until((tmp_path / "started").exists, "the command has started")
    assert take_hold(tmp_path, exclusive=True) is None

    host.kill()
    await host.wait()

    await until(lambda: take_hold(tmp_path, exclusive=True), "the hold is free")
    assert processes_naming(tmp_path) == []

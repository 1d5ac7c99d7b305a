"""Where a host shows itself: private, complete, and swept when the host is dead."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from enfilade.running.folder import HostFolder, living_hosts
from tests.support.states import BOUND

MAKES_ONE = """
import sys, time
from pathlib import Path
from enfilade.running.folder import HostFolder
folder = HostFolder.make(Path(sys.argv[1]))
folder.write_status({"plugins": []})
print("made", flush=True)
time.sleep(60)
"""


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_everything_in_it_is_for_this_user_only(tmp_path: Path) -> None:
    folder = HostFolder.make(tmp_path / "data" / "hosts")
    folder.write_status({"a": 1})
    folder.ask({"what": "restart"})
    for path in [tmp_path / "data" / "hosts", *folder.path.rglob("*"), folder.path]:
        assert path.stat().st_mode & 0o077 == 0, path
    folder.close()


def test_several_hosts_are_seen_side_by_side(tmp_path: Path) -> None:
    folders = [HostFolder.make(tmp_path) for _ in range(3)]
    for number, folder in enumerate(folders):
        folder.write_status({"number": number})
    seen = living_hosts(tmp_path)
    assert {found.status()["number"] for found in seen} == {0, 1, 2}
    assert {found.pid for found in seen} == {os.getpid()}
    for folder in folders:
        folder.close()
    assert living_hosts(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


async def test_what_a_killed_host_left_behind_is_swept(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", MAKES_ONE, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), BOUND) == b"made\n"
    (found,) = living_hosts(tmp_path)
    assert (found.pid, found.alive) == (process.pid, True)
    process.send_signal(signal.SIGKILL)
    await asyncio.wait_for(process.wait(), BOUND)
    assert not found.alive
    assert living_hosts(tmp_path) == []
    assert names_in(tmp_path) == []


def test_one_that_is_just_being_made_is_left_alone_and_an_old_one_goes(tmp_path: Path) -> None:
    fresh, old = tmp_path / ".new-1-a", tmp_path / ".new-2-b"
    for folder in (fresh, old):
        folder.mkdir()
    os.utime(old, (0, 0))
    (tmp_path / "somebody's file").write_text("stays")
    assert living_hosts(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} == {".new-1-a", "somebody's file"}


def test_a_request_is_taken_once_and_so_is_its_answer(tmp_path: Path) -> None:
    host = HostFolder.make(tmp_path)
    (visitor,) = living_hosts(tmp_path)
    number = visitor.ask({"what": "restart", "plugin": "p"})
    assert visitor.answered(number) is None
    assert host.requests() == [(number, {"what": "restart", "plugin": "p"})]
    assert host.requests() == []
    host.answer(number, {"results": []})
    assert visitor.answered(number) == {"results": []}
    assert visitor.answered(number) is None
    host.close()


@pytest.mark.parametrize("text", ["", "{", "[1]", "\x00", "[" * 100_000])
def test_a_damaged_file_says_nothing(tmp_path: Path, text: str) -> None:
    host = HostFolder.make(tmp_path)
    (host.path / "status.json").write_text(text)
    (host.path / "requests" / "x.json").write_text(text)
    assert host.status() == {}
    assert host.requests() == [("x", {})]
    host.close()

"""The guardian ends what it was told of, and can be made to end nothing else."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from enfilade.isolation import guardian
from enfilade.isolation.directory import make_directory, remove_directory
from enfilade.isolation.guardian import MARK, end_strays, is_private, strays
from tests.support.leftovers import alive

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]


@pytest.fixture
def place() -> Iterator[str]:
    path = make_directory()
    yield path
    remove_directory(path)


def sleeper(**environment: str) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(SLEEP, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def ended(process: "subprocess.Popen[bytes]") -> bool:
    """Whether it was ended, within a bound; in any case it is afterwards."""
    try:
        process.wait(timeout=0.3)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.parametrize(
    "directory",
    ["", "/", "//", ".", "/tmp", "/tmp/", "/root", "enf-1-x", "/tmp/enf-", "/tmp/enf-x-y", "/tmp/enf-1-x/deep"],
)
def test_what_is_no_private_directory_names_nobody(directory: str) -> None:
    assert not is_private(directory)
    marked = sleeper(**{MARK: directory})
    assert strays([directory]) == set()
    assert end_strays([directory]) == 0
    assert not ended(marked)


def test_a_private_directory_names_those_that_carry_it_and_no_others(place: str) -> None:
    assert is_private(place)
    marked, unmarked = sleeper(**{MARK: place}), sleeper(**{MARK: f"{place}x"})
    assert strays([place]) == {marked.pid}
    assert end_strays([place]) == 1
    assert ended(marked)
    assert not ended(unmarked)


def test_a_process_never_ends_itself_or_what_started_it(place: str) -> None:
    code = (
        "import os, sys\n"
        "from enfilade.isolation.guardian import MARK, end_strays\n"
        "if len(sys.argv) > 1:\n"
        f"    print(end_strays([{place!r}]))\n"
        "else:\n"
        "    import subprocess\n"
        "    subprocess.run([sys.executable, '-c', os.environ['CODE'], 'inner'], check=True)\n"
        "    print('outer')\n"
    )
    environment = {**os.environ, MARK: place, "CODE": code}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
    assert told.stdout.split() == ["0", "outer"]


@pytest.mark.parametrize("line", [b"+ 0 /tmp\n", b"+ 1 \n", b"+ -1 /\n", b"+ %d \n", b"+ %d /tmp\n"])
def test_a_guardian_that_is_told_nonsense_harms_nobody(line: bytes) -> None:
    """Run in a session of its own; `%d` is the group of a process that has ended."""
    bystander = sleeper()
    gone = subprocess.Popen(["/bin/true"], start_new_session=True)
    gone.wait()
    told = line % gone.pid if b"%" in line else line
    watching = [sys.executable, "-I", "-S", guardian.__file__]
    subprocess.run(watching, input=told, env={}, start_new_session=True, timeout=10, check=True)
    assert Path("/tmp").is_dir()
    assert not ended(bystander)


def test_a_guardian_ends_groups_and_strays_and_removes_directories(place: str) -> None:
    leader = sleeper()
    stray = sleeper(**{MARK: place})
    spared = sleeper()
    lines = f"+ {leader.pid} {place}\n+ {spared.pid} {place}y\n- {spared.pid}\n".encode()
    watching = [sys.executable, "-I", "-S", guardian.__file__]
    subprocess.run(watching, input=lines, env={}, start_new_session=True, timeout=10, check=True)
    assert ended(leader)
    assert ended(stray)
    assert not ended(spared)
    assert not Path(place).exists()


def test_a_guardian_is_small_and_waits_without_work() -> None:
    watching = [sys.executable, "-I", "-S", guardian.__file__]
    process = subprocess.Popen(watching, stdin=subprocess.PIPE, env={}, start_new_session=True)
    assert process.stdin is not None
    try:
        deadline = time.monotonic() + 5
        while psutil.Process(process.pid).status() != psutil.STATUS_SLEEPING and time.monotonic() < deadline:
            time.sleep(0.01)
        assert psutil.Process(process.pid).memory_info().rss < 20_000_000
        process.terminate()  # which it ignores: the host's end is its end
        time.sleep(0.1)
        assert alive(process.pid)
    finally:
        process.stdin.close()
        process.wait(timeout=5)
    assert process.returncode == 0

"""What a launch left is removed, whatever a hostile plugin has made of it, and nothing else is."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from enfilade.isolation import guardian, removal
from enfilade.isolation.directory import make_directory, remove_directory

NOBODY = 65534
DEEP = 1500


def deep(place: Path) -> None:
    """Deeper than a path may be long, and than Python's recursion."""
    at = os.open(place, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("in", dir_fd=at)
        inner = os.open("in", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


def full(place: Path) -> None:
    for number in range(removal.BATCH + 10):
        (place / f"{number}").touch()
    (place / "more").mkdir()
    for number in range(removal.BATCH + 10):
        (place / "more" / f"{number}").mkdir()


def oddly_named(place: Path) -> None:
    for name in (b"\n", b"\xff\xfe", b"-rf", b".0.1", b"x" * 255, "\u202e".encode(), b"\x1b[2J"):
        Path(os.fsdecode(os.fsencode(place) + b"/" + name)).mkdir()
        Path(os.fsdecode(os.fsencode(place) + b"/" + name + b"/" + name)).touch()


def closed(place: Path) -> None:
    (place / "a" / "b" / "c").mkdir(parents=True)
    (place / "a" / "b" / "file").touch()
    (place / "a" / "b" / "c").chmod(0)
    (place / "a" / "b").chmod(0o500)
    (place / "a").chmod(0)
    place.chmod(0)


def not_files(place: Path) -> None:
    os.mkfifo(place / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place / "1.sock"))


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some disks take milliseconds to remove a folder."""
    if os.access("/dev/shm", os.W_OK):
        monkeypatch.setenv("ENFILADE_RUNTIME_DIR", "/dev/shm")


HOSTILE = [deep, full, oddly_named, closed, not_files]


@pytest.mark.parametrize("fill", HOSTILE, ids=lambda fill: fill.__name__)
def test_whatever_is_in_it_a_directory_is_removed(fill: Callable[[Path], None]) -> None:
    place = make_directory()
    fill(Path(place))
    assert remove_directory(place)
    assert not Path(place).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user, whom closed folders stop")
def test_a_user_whom_rights_stop_removes_it_too() -> None:
    place = make_directory()
    closed(Path(place))
    for folder, _, files in os.walk(place):
        os.chown(folder, NOBODY, NOBODY)
        for file in files:
            os.chown(Path(folder, file), NOBODY, NOBODY)
    code = f"exec(open(0).read()); raise SystemExit(not remove_tree({place!r}))"
    python = next((program for program in (sys.executable, "/usr/bin/python3") if as_nobody_can_run(program)), "")
    if not python:
        remove_directory(place)
        pytest.skip("there is no Python that another user may run")
    command = [python, "-I", "-S", "-c", code]
    source = Path(removal.__file__).read_bytes()
    assert subprocess.run(command, input=source, user=NOBODY, group=NOBODY, check=False, cwd="/").returncode == 0
    assert not Path(place).exists()


def as_nobody_can_run(program: str) -> bool:
    try:
        ended = subprocess.run([program, "-I", "-S", "-c", ""], user=NOBODY, group=NOBODY, check=False, cwd="/")
    except OSError:
        return False
    return ended.returncode == 0


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("kept")
    (tmp_path / "kept").chmod(0o500)
    place = Path(make_directory())
    (place / "folder").mkdir()
    for where in (place, place / "folder"):
        (where / "to-folder").symlink_to(tmp_path / "kept")
        (where / "to-file").symlink_to(tmp_path / "kept" / "file")
        (where / "to-itself").symlink_to(".")
    assert remove_directory(str(place))
    assert not place.exists()
    assert (tmp_path / "kept" / "file").read_text() == "kept"
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o500


def test_a_link_in_the_place_of_a_directory_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = Path(make_directory())
    place.rmdir()
    place.symlink_to(tmp_path)
    try:
        assert remove_directory(str(place))
        assert (tmp_path / "file").exists()
    finally:
        place.unlink()


def test_what_takes_too_long_is_given_up_and_the_guardian_goes_on_with_it() -> None:
    place = make_directory()
    full(Path(place))
    assert not remove_directory(place, seconds=0)
    assert Path(place).exists()
    lines = f"+ 4194305 {place}\nx 4194305\n".encode()
    watching = [sys.executable, "-I", "-S", guardian.__file__]
    subprocess.run(
        watching, input=lines, env={}, start_new_session=True, timeout=20, check=True, stdout=subprocess.PIPE
    )
    assert not Path(place).exists()  # the child that removes it holds the pipe until it is through

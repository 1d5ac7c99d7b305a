"""The host speaks with the socket that it looked at, whatever a plugin puts into its place."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from enfilade.errors import LaunchError
from enfilade.isolation.directory import make_directory, remove_directory
from enfilade.isolation.held_socket import HeldSocket


@pytest.fixture
def place() -> Iterator[Path]:
    path = make_directory()
    yield Path(path)
    remove_directory(path)


def listener(stack: ExitStack, path: Path) -> socket.socket:
    server = stack.enter_context(socket.socket(socket.AF_UNIX))
    server.bind(str(path))
    server.listen()
    server.settimeout(10)
    return server


def test_a_link_in_the_place_of_a_socket_leads_the_host_nowhere_else(place: Path) -> None:
    neighbour = Path(make_directory())
    with ExitStack() as stack:
        stack.callback(remove_directory, str(neighbour))
        own, other = listener(stack, place / "1.sock"), listener(stack, neighbour / "1.sock")
        held = HeldSocket(str(place / "1.sock"), str(place))
        stack.callback(held.close)
        (place / "1.sock").unlink()
        (place / "1.sock").symlink_to(neighbour / "1.sock")
        client = stack.enter_context(socket.socket(socket.AF_UNIX))
        client.connect(held.path)
        stack.enter_context(own.accept()[0])
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()


@pytest.mark.parametrize("kind", ["link to a neighbour's", "file", "folder", "nothing", "loop", "dangling"])
def test_what_is_no_socket_of_its_own_is_refused_and_not_held(place: Path, kind: str) -> None:
    neighbour = Path(make_directory())
    before = len(list(Path("/proc/self/fd").iterdir()))
    with ExitStack() as stack:
        stack.callback(remove_directory, str(neighbour))
        path = place / "1.sock"
        if kind == "link to a neighbour's":
            listener(stack, neighbour / "1.sock")
            path.symlink_to(neighbour / "1.sock")
        elif kind == "file":
            path.touch()
        elif kind == "folder":
            path.mkdir()
        elif kind == "loop":
            path.symlink_to(path)
        elif kind == "dangling":
            path.symlink_to(place / "other")
        with pytest.raises(LaunchError, match=r"expected a socket in|there is no such socket|that is no socket"):
            HeldSocket(str(path), str(place))
    assert len(list(Path("/proc/self/fd").iterdir())) == before

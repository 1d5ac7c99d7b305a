"""What a hostile plugin tries: one function a deed. What is refused raises; what succeeds gives what was gained.

The ways are the plain ones that every attacker has. `docs/isolation.md` says what each comes to.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.hostile_plugin import kernel

_libc = ctypes.CDLL(None, use_errno=True)
_PTRACE_SEIZE, _CLONE_NEWUSER, _PROCESS_VM_READV = 0x4206, 0x10000000, {"x86_64": 310, "aarch64": 270}
_SOCK_DGRAM_TEXT = b"a datagram"

MANY = 40
"""Processes that the fork bomb stops at."""

PIECE = 8 * 1024 * 1024

Target = Mapping[str, str]
"""What the host of the test tells the plugin, as an attacker might know or guess it."""


def host_environment(target: Target) -> str:
    """The host's secrets, as `/proc` shows them."""
    environment = Path(f"/proc/{target['host']}/environ").read_bytes()
    return _gained(target["secret"].encode() in environment, "the host's environment")


def host_memory(target: Target) -> str:
    """The host's memory, as a file of `/proc`."""
    address = _address(int(target["host"]))
    with Path(f"/proc/{target['host']}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return _gained(len(memory.read(64)) == 64, "the host's memory")


def host_memory_by_call(target: Target) -> str:
    """The host's memory, by the system call for it. The address need not be right for the right to be seen."""
    buffer = ctypes.create_string_buffer(64)
    ours = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
    theirs = (ctypes.c_size_t * 2)(4096, 64)
    number = _PROCESS_VM_READV[os.uname().machine]
    one = ctypes.c_long(1)
    got = _libc.syscall(number, int(target["host"]), ours, one, theirs, one, ctypes.c_long(0))
    if got < 0 and ctypes.get_errno() != 14:  # EFAULT: the right was there, the address was not
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    return "the host's memory"


def shadow(_target: Target) -> str:
    """The passwords of the machine."""
    return _gained(bool(Path("/etc/shadow").read_text()), "passwords")


def home_file(target: Target) -> str:
    """A file of the user whom the host runs as."""
    return _gained(Path(target["home_file"]).read_text() == target["secret"], "a file of the user")


def neighbour_file(target: Target) -> str:
    """A file in another plugin's private directory."""
    return _gained(Path(target["neighbour_file"]).read_text() == target["secret"], "another plugin's file")


def neighbour_socket(target: Target) -> str:
    """Another plugin's socket, whose path was found out somehow."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(target["neighbour_socket"])
    return "a connection to another plugin"


def tcp(target: Target) -> str:
    """A connection over TCP."""
    with socket.create_connection(("127.0.0.1", int(target["tcp"])), timeout=10):
        return "a connection"


def listen(_target: Target) -> str:
    """A listening socket over TCP."""
    with socket.create_server(("127.0.0.1", 0)):
        return "a listening socket"


def udp(target: Target) -> str:
    """A datagram over UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(_SOCK_DGRAM_TEXT, ("127.0.0.1", int(target["udp"])))
    return "a datagram sent"


def trace(target: Target) -> str:
    """Tracing the host, which lets read and change all of it."""
    if _libc.ptrace(_PTRACE_SEIZE, int(target["host"]), None, None):
        raise OSError(ctypes.get_errno(), "ptrace")
    return "the host traced"


def signal_host(target: Target) -> str:
    """A signal to the host; one that it ignores."""
    os.kill(int(target["host"]), signal.SIGURG)
    return "a signal to the host"


def signal_neighbour(target: Target) -> str:
    """A signal to another plugin; one that it ignores."""
    os.kill(int(target["neighbour"]), signal.SIGURG)
    return "a signal to another plugin"


def namespace(_target: Target) -> str:
    """A user namespace of its own, in which it is root and reaches the kernel's lesser tested parts."""
    child = os.fork()
    if child == 0:
        os._exit(0 if _libc.unshare(_CLONE_NEWUSER) == 0 else 1)
    return _gained(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "a user namespace")


def fork_bomb(_target: Target) -> str:
    """Processes without end; this one stops by itself, and waits for them."""
    held, holding = os.pipe()
    children: list[int] = []
    try:
        for _ in range(MANY):
            child = os.fork()
            if child == 0:
                os.close(holding)
                os.read(held, 1)  # until the bomb is over
                os._exit(0)
            children.append(child)
    finally:
        os.close(holding)
        os.close(held)
        for child in children:
            os.waitpid(child, 0)
    return f"{len(children)} processes"


def memory_bomb(target: Target) -> str:
    """Memory beyond what it was given."""
    pieces = [bytearray(PIECE) for _ in range(int(target["memory"]) * 5 // 4 // PIECE)]
    return f"{len(pieces) * PIECE} bytes"


def large_file(target: Target) -> str:
    """A file beyond the size it was given, in its own directory."""
    path = Path(os.environ["HOME"], "large")
    try:
        with path.open("wb") as file:
            for _ in range(int(target["file_size"]) // PIECE + 1):
                file.write(bytes(PIECE))
    finally:
        path.unlink(missing_ok=True)
    return "a file that is too large"


def many_files(target: Target) -> str:
    """Files that are each within the size, and together are not."""
    paths = [Path(os.environ["HOME"], f"many{number}") for number in range(3)]
    try:
        for path in paths:
            path.write_bytes(bytes(int(target["file_size"]) // 2))
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
    return "more on the disk than one file may hold"


def write_outside(target: Target) -> str:
    """A file where everybody may write one."""
    path = Path(target["outside"], f"planted{os.getpid()}")
    path.write_text("planted")
    path.unlink()
    return "a file outside its folder"


def write_code(target: Target) -> str:
    """Other code in the place of the host's own."""
    path = Path(target["code"])
    path.write_text(path.read_text() + "\n# changed\n")
    return "the host's code changed"


def change_mode(target: Target) -> str:
    """Other permissions for a file of the host's user."""
    Path(target["home_file"]).chmod(0o644)
    return "other permissions"


def daemon(_target: Target) -> str:
    """A process that leaves everything by which it is known: its parent, its session, its environment."""
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        sleeper = subprocess.Popen(["/bin/sleep", "60"], env={}, stdin=-3, stdout=-3, stderr=-3, close_fds=True)
        os.write(telling, str(sleeper.pid).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(telling)
    return os.read(told, 20).decode()


def keyring(_target: Target) -> str:
    """A key in the kernel's keyring, which processes of one user share."""
    number = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    if _libc.syscall(number, b"user", b"hostile", b"x", 1, -4) < 0:
        raise OSError(ctypes.get_errno(), "add_key")
    return "a key in the keyring"


def shared_memory(_target: Target) -> str:
    """A segment of System V's shared memory, which processes of one user share."""
    number = {"x86_64": 29, "aarch64": 194}[os.uname().machine]
    segment = _libc.syscall(number, 0, 4096, 0o600 | 0o1000)
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    _libc.shmctl(segment, 0, None)
    return "shared memory"


def own_program(_target: Target) -> str:
    """Not hostile: a program of the system's, run to its end."""
    return subprocess.run([sys.executable, "-c", "print('hello')"], capture_output=True, check=True, text=True).stdout


def own_folder(_target: Target) -> str:
    """Not hostile: a file in its own directory, and the system's certificates."""
    import ssl
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a").write_text("kept")
        Path(folder, "a").rename(Path(os.environ["HOME"], "b"))
    ssl.create_default_context()
    return Path(os.environ["HOME"], "b").read_text()


def _gained(really: bool, what: str) -> str:
    if not really:
        raise PermissionError(f"not {what}")
    return what


def _address(pid: int) -> int:
    """Where memory of a process begins that can be read."""
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        span, rights, *_ = line.split()
        if rights.startswith("rw"):
            return int(span.partition("-")[0], 16)
    raise PermissionError("no memory is shown")


DEEDS: dict[str, Callable[[Target], str]] = {
    name.replace("_", "-"): value
    for name, value in list(globals().items())
    if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == __name__
} | kernel.DEEDS

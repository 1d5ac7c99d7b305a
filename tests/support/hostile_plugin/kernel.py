"""What a hostile plugin asks of the kernel: one function a deed, as in `deeds`."""

import ctypes
import mmap
import os
import resource
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_GET_NO_NEW_PRIVS, _IO_URING_SETUP = 1, 39, 425
_READ_ALL_OF_LOG = 3
_PIECE = 8 * 1024 * 1024
_GROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids")

Target = Mapping[str, str]


def abstract_socket(target: Target) -> str:
    """A socket that has no file, as those of a desktop's services have none."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + target["abstract"])
    return "a connection to a service"


def unix_datagram(target: Target) -> str:
    """A datagram to a socket to which everybody may send, as the system's log is one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.sendto(b"forged", target["datagram"])
    return "a line in the log"


def netlink(_target: Target) -> str:
    """A socket to the kernel, which tells of the machine's network."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0):
        return "a socket to the kernel"


def vsock(_target: Target) -> str:
    """A socket to the machine that this one is a guest of."""
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return "a socket to the machine below"


def descriptor(target: Target) -> str:
    """A file that the host has open, and has not kept from those that it starts."""
    for number in range(3, 256):
        try:
            said = os.pread(number, 100, 0)
        except OSError:
            continue
        if said == target["secret"].encode():
            return "a file of the host's"
    raise PermissionError("nothing was left open")


def terminal(target: Target) -> str:
    """The terminal of the host's user: what is typed there can be read, and something can be typed."""
    os.close(os.open(target["terminal"], os.O_RDWR | os.O_NOCTTY))
    return "a terminal"


def processes(target: Target) -> str:
    """What runs on the machine, and with which words it was started."""
    words = Path(f"/proc/{target['host']}/cmdline").read_bytes()
    if b"hostile_host" not in words:
        raise PermissionError("another process has that number here")
    return "the host's command"


def outlive_host(_target: Target) -> str:
    """Not to hear of the host's death."""
    if _libc.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    return "no end with the host"


def own_limits(_target: Target) -> str:
    """Limits of its own choice."""
    endless = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, endless)
        resource.setrlimit(resource.RLIMIT_DATA, endless)
    except ValueError as error:
        raise PermissionError(str(error)) from None
    return "no limits"


def slow_host(target: Target) -> str:
    """Where and how the host is scheduled; it is told what holds already."""
    host = int(target["host"])
    os.sched_setaffinity(host, os.sched_getaffinity(host))
    os.sched_setscheduler(host, os.sched_getscheduler(host), os.sched_getparam(host))
    return "a say in when the host runs"


def shared_bomb(target: Target) -> str:
    """Memory that is shared with nobody yet, and is counted by no limit of a process."""
    pieces, piece = int(target["memory"]) * 5 // 4 // _PIECE, bytes(_PIECE)
    with mmap.mmap(-1, pieces * _PIECE) as memory:
        for _ in range(pieces):
            memory.write(piece)
    return f"{pieces * _PIECE} bytes"


def new_privileges(_target: Target) -> str:
    """Programs that run as root whoever starts them."""
    if _libc.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0):
        raise PermissionError("they run as who starts them")
    return "set-user-id programs"


def other_user(_target: Target) -> str:
    """The rights of another user."""
    own = os.geteuid()
    os.seteuid(1)
    os.seteuid(own)
    return "another user's rights"


def mount(_target: Target) -> str:
    """A file system of its own."""
    place = Path(os.environ["HOME"], "mounted")
    place.mkdir(exist_ok=True)
    if _libc.mount(b"none", os.fsencode(place), b"tmpfs", 0, None):
        raise OSError(ctypes.get_errno(), "mount")
    _libc.umount(os.fsencode(place))
    return "a file system"


def device(_target: Target) -> str:
    """The file of a device, by which the kernel's log is written to."""
    path = Path(os.environ["HOME"], "device")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 11))
    path.unlink()
    return "a device"


def kernel_log(_target: Target) -> str:
    """The kernel's log, in which addresses stand."""
    size = 4096
    if _libc.klogctl(_READ_ALL_OF_LOG, ctypes.create_string_buffer(size), size) < 0:
        raise OSError(ctypes.get_errno(), "syslog")
    return "the kernel's log"


def io_uring(_target: Target) -> str:
    """System calls by way of memory, which no filter sees."""
    ring = _libc.syscall(_IO_URING_SETUP, 1, ctypes.create_string_buffer(120))
    if ring < 0:
        raise OSError(ctypes.get_errno(), "io_uring_setup")
    os.close(ring)
    return "a ring"


def leave_group(_target: Target) -> str:
    """Another control group, in which the bounds of its own do not hold; it is only opened here."""
    group = next((group for group in _GROUPS if Path(group, "cgroup.procs").exists()), _GROUPS[0])
    os.close(os.open(f"{group}/cgroup.procs", os.O_WRONLY))
    return "another control group"


def shared_memory_file(_target: Target) -> str:
    """A file in memory that all processes share."""
    path = Path(f"/dev/shm/hostile-{os.getpid()}")
    path.touch()
    path.unlink()
    return "a file in shared memory"


DEEDS: dict[str, Callable[[Target], str]] = {
    name.replace("_", "-"): value
    for name, value in list(globals().items())
    if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == __name__
}

"""The seccomp filter of a launch, as a program of classic BPF for the kernel.

It lets everything through but what stands here, and what stands here fails with EPERM, as it would for want of a right:
nothing is killed. Calls that came with a later kernel than the tables fail with ENOSYS, as with an older one. See
seccomp(2) and the kernel's `linux/filter.h`, `linux/seccomp.h`, `linux/audit.h`.
"""

import errno
import os
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from enfilade.isolation.guardian import LOCKS
from enfilade.isolation.sandbox.syscalls import AARCH64, NEWEST, X86_64, number

ARCHITECTURES = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}
"""What the kernel calls a machine in a filter (`AUDIT_ARCH_...`); another one's calls, 32 bit ones too, are refused."""

FORBIDDEN = (
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_getfd"),
    *("move_pages", "migrate_pages"),
    # mounts, namespaces, other ways to files
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "unshare", "setns", "fanotify_init"),
    *("name_to_handle_at", "open_by_handle_at", "quotactl", "quotactl_fd"),
    # the kernel's large surfaces
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("add_key", "request_key", "keyctl", "modify_ldt", "lookup_dcookie", "nfsservctl", "uselib", "ustat"),
    # the machine itself
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff"),
    *("acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname"),
    *("ioperm", "iopl", "syslog", "vhangup"),
    # what processes of one user share under System V's and POSIX's names
    *("shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
)

_NAMESPACES = 0x7E020000
"""Every `CLONE_NEW...` that clone(2) knows."""
_THREAD = 0x00010000
_TYPE = 0xF
"""The bits of a socket's type that are no flags."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_SIGKILL = 9
_NETLINK_ROUTE = 0
_MAP_GROWSDOWN = 0x100
_QUERY_PERSONALITY = 0xFFFFFFFF
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16

_Instruction = tuple[int, int, int, int]
"""Operation, jump where true, jump where false, constant."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """What a filter leaves open.

    Attributes:
        network: Sockets of the internet, and connections to anything.
        processes: New processes; threads are always free.
        host: The host's process id, which gets no signal; 0 where it cannot be named from within.
        group: The host's process group, likewise.
        truncation: Files may be emptied by their paths, for Landlock looks after that; it does since its version 3.
    """

    network: bool = False
    processes: bool = True
    host: int = 0
    group: int = 0
    truncation: bool = True


def build_filter(machine: str, freedom: Freedom) -> bytes:
    """The program, as an array of the kernel's `struct sock_filter`.

    Args:
        machine: One of `ARCHITECTURES`.
        freedom: What it leaves open.
    """
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 1, 0, ARCHITECTURES[machine]),
        _fail(errno.EPERM),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),
        _fail(errno.EPERM),
        (_AT_LEAST, 0, 1, NEWEST + 1),
        _fail(errno.ENOSYS),
    ]
    for name, body in _rules(freedom):
        call = number(name, machine)
        if call is not None:
            program += [(_EQUAL, 0, len(body), call), *body]
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _rules(freedom: Freedom) -> Iterable[tuple[str, list[_Instruction]]]:
    """What is done about each call; every body ends by returning."""
    for name in FORBIDDEN:
        yield name, [_fail(errno.EPERM)]
    yield "clone3", [_fail(errno.ENOSYS)]  # its flags are behind a pointer; the C library takes clone instead
    yield "clone", _refuse_bits(0, _NAMESPACES) if freedom.processes else _need_bits(0, _THREAD, _NAMESPACES)
    if not freedom.processes:
        yield "fork", [_fail(errno.EPERM)]
        yield "vfork", [_fail(errno.EPERM)]
    yield "personality", _only(0, (0, _QUERY_PERSONALITY))
    # Its own process or group, by 0: not another's, nor all that its user has.
    yield "setpriority", [*_need(0, (0, 1)), *_only(1, (0,))]
    yield "ioprio_set", [*_need(0, (1, 2)), *_only(1, (0,))]
    yield "mmap", _refuse_bits(3, _MAP_GROWSDOWN)  # it grows as a stack does, and no limit counts it
    yield "prlimit64", _limits()
    yield "setrlimit", _refuse(0, (LOCKS,))
    # Its host goes on knowing it, and it dies with its host.
    yield "prctl", _prctl()
    yield from _signals(freedom)
    if not freedom.truncation:
        yield from _truncations()
    yield from _sockets(network=freedom.network)


def _signals(freedom: Freedom) -> Iterable[tuple[str, list[_Instruction]]]:
    """None to the host, for kernels whose Landlock does not keep signals in."""
    hosts = [pid & 0xFFFFFFFF for pid in (freedom.host, -freedom.group) if pid]
    if hosts:
        everybody = -1 & 0xFFFFFFFF
        yield "kill", _refuse(0, [*hosts, everybody])
        for name in ("tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open"):
            yield name, _refuse(0, hosts)
        for name in ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"):
            yield name, _only(0, (0,))


def _truncations() -> Iterable[tuple[str, list[_Instruction]]]:
    """None by a path, nor by opening for reading; what is opened for writing may be written, so emptied."""
    yield "truncate", [_fail(errno.EPERM)]
    for name, flags in (("open", 1), ("openat", 2)):
        yield name, [_load(flags), (_AND, 0, 0, os.O_TRUNC | os.O_ACCMODE), (_EQUAL, 0, 1, os.O_TRUNC), *_fail_allow()]
    yield "openat2", [_fail(errno.ENOSYS)]  # its flags are behind a pointer


def _sockets(*, network: bool) -> Iterable[tuple[str, list[_Instruction]]]:
    unix = int(socket.AF_UNIX)
    if network:
        families = [unix, int(socket.AF_INET), int(socket.AF_INET6)]
        netlink = _only(2, (_NETLINK_ROUTE,))  # the C library asks it which addresses there are
        yield "socket", [_load(0), (_EQUAL, 0, len(netlink), 16), *netlink, *_only(0, families)]
        return
    # A datagram's receiver may stand in memory, where no filter sees it; a stream's was connected to, or has accepted.
    yield "socket", [_load(0), (_EQUAL, 1, 0, unix), _fail(errno.EPERM), *_no_datagrams()]
    yield "socketpair", _no_datagrams()
    yield "connect", [_fail(errno.EPERM)]


def _no_datagrams() -> list[_Instruction]:
    return [
        _load(1),
        (_AND, 0, 0, _TYPE),
        (_EQUAL, 0, 1, int(socket.SOCK_DGRAM)),
        _fail(errno.EPERM),
        (_EQUAL, 0, 1, int(socket.SOCK_RAW)),
        _fail(errno.EPERM),
        _allow(),
    ]


def _limits() -> list[_Instruction]:
    """Its own limits; the one by which it is known may be read."""
    new_low, new_high = 2, _ARGUMENTS_AT + 8 * 2 + 4
    changed = [
        _load(new_low),
        (_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, new_high),
        (_EQUAL, 1, 0, 0),
        *_fail_allow(),
    ]
    return [
        _load(0),
        (_EQUAL, 1, 0, 0),
        _deny(),
        _load(1),
        (_EQUAL, 0, len(changed), LOCKS),
        *changed,
        _allow(),
    ]


def _prctl() -> list[_Instruction]:
    death = [_load(1), (_EQUAL, 1, 0, _SIGKILL), _fail(errno.EPERM), _allow()]
    return [
        _load(0),
        (_EQUAL, 0, 1, _PR_SET_DUMPABLE),
        _fail(errno.EPERM),
        (_EQUAL, 0, len(death), _PR_SET_PDEATHSIG),
        *death,
        _allow(),
    ]


def _only(argument: int, values: Sequence[int]) -> list[_Instruction]:
    """Lets through when the argument is one of these numbers."""
    return [_load(argument), *[(_EQUAL, len(values) - at, 0, v) for at, v in enumerate(values)], *_fail_allow()]


def _need(argument: int, values: Sequence[int]) -> list[_Instruction]:
    """Goes on when the argument is one of these numbers."""
    return [_load(argument), *[(_EQUAL, len(values) - at, 0, v) for at, v in enumerate(values)], _deny()]


def _refuse(argument: int, values: Sequence[int]) -> list[_Instruction]:
    """Lets through when the argument is none of these numbers."""
    return [_load(argument), *[(_EQUAL, len(values) - at, 0, v) for at, v in enumerate(values)], _allow(), _deny()]


def _refuse_bits(argument: int, bits: int) -> list[_Instruction]:
    return [_load(argument), (_AND, 0, 0, bits), (_EQUAL, 1, 0, 0), *_fail_allow()]


def _need_bits(argument: int, needed: int, refused: int) -> list[_Instruction]:
    return [_load(argument), (_AND, 0, 0, needed | refused), (_EQUAL, 1, 0, needed), *_fail_allow()]


def _fail_allow() -> list[_Instruction]:
    return [_deny(), _allow()]


def _load(argument: int) -> _Instruction:
    """The low half of an argument, on machines that store it first; flags, numbers and types of ours have no other."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)


def _deny() -> _Instruction:
    return _fail(errno.EPERM)


def _fail(code: int) -> _Instruction:
    return (_RETURN, 0, 0, _FAIL | code)


def _allow() -> _Instruction:
    return (_RETURN, 0, 0, _ALLOW)

"""The filter of system calls, on both kinds of machine: its program is run here, instruction by instruction."""

import errno
import re
import socket
import struct
from pathlib import Path

import pytest

from enfilade.isolation.guardian import LOCKS
from enfilade.isolation.sandbox.filter import ARCHITECTURES, FORBIDDEN, Freedom, build_filter
from enfilade.isolation.sandbox.syscalls import NEWEST, names, number

ALLOWED = 0
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
MACHINES = pytest.mark.parametrize("machine", list(ARCHITECTURES))
ORDINARY = {"x86_64": (0, 1, 9, 257, 202, 49, 50, 288), "aarch64": (63, 64, 222, 56, 98, 200, 201, 242)}
"""read, write, mmap, openat, futex, bind, listen, accept4."""


def judged(machine: str, freedom: Freedom, call: int, *arguments: int, kind: int | None = None) -> int:
    """The error that a filter gives a call; 0 when it lets it through."""
    filled = [argument & (2**64 - 1) for argument in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("<IIQ6Q", call, ARCHITECTURES[machine] if kind is None else kind, 0, *filled)
    program = list(struct.iter_unpack("=HBBI", build_filter(machine, freedom)))
    held = at = 0
    while True:
        operation, true, false, value = program[at]
        at += 1
        if operation == 0x20:
            (held,) = struct.unpack_from("<I", data, value)
        elif operation == 0x54:
            held &= value
        elif operation == 0x06:
            return ALLOWED if value == 0x7FFF0000 else value & 0xFFFF
        else:
            holds = held == value if operation == 0x15 else held >= value
            at += true if holds else false


def named(machine: str, freedom: Freedom, name: str, *arguments: int) -> int:
    call = number(name, machine)
    assert call is not None
    return judged(machine, freedom, call, *arguments)


@MACHINES
def test_numbers_are_the_kernels(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"there are no headers of the kernel here ({HEADERS[machine]})")
    text = HEADERS[machine].read_text()
    theirs = {name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", text)}
    ours = {name: number(name, machine) for name in names()}
    assert {name: call for name, call in ours.items() if call is not None and theirs.get(name, call) != call} == {}
    assert len(theirs.keys() & ours.keys()) > 60


@MACHINES
@pytest.mark.parametrize("freedom", [Freedom(), Freedom(network=True, host=77, group=70)])
def test_what_is_forbidden_fails_and_the_ordinary_passes(machine: str, freedom: Freedom) -> None:
    calls = [call for name in FORBIDDEN if (call := number(name, machine)) is not None]
    assert {judged(machine, freedom, call) for call in calls} == {errno.EPERM}
    assert {judged(machine, freedom, call) for call in ORDINARY[machine]} == {ALLOWED}


@MACHINES
def test_other_machines_calls_and_the_future_are_refused(machine: str) -> None:
    for kind in (0x40000003, 0x40000028, 0):  # i386, arm, nothing
        assert judged(machine, Freedom(), ORDINARY[machine][0], kind=kind) == errno.EPERM
    assert judged(machine, Freedom(), 0x40000000) == errno.EPERM  # x32
    assert judged(machine, Freedom(), NEWEST) == ALLOWED
    assert judged(machine, Freedom(), NEWEST + 1) == errno.ENOSYS


@MACHINES
def test_sockets_are_local_streams_and_connect_to_nothing(machine: str) -> None:
    closed = Freedom()
    flags = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
    assert named(machine, closed, "socket", socket.AF_UNIX, socket.SOCK_STREAM | flags) == ALLOWED
    assert named(machine, closed, "socket", socket.AF_UNIX, socket.SOCK_DGRAM | flags) == errno.EPERM
    assert named(machine, closed, "socketpair", socket.AF_UNIX, socket.SOCK_STREAM) == ALLOWED
    for family in (socket.AF_INET, socket.AF_INET6, 16, 17, 38, 40):  # netlink, packet, alg, vsock
        assert named(machine, closed, "socket", family, socket.SOCK_STREAM) == errno.EPERM
    assert named(machine, closed, "connect") == errno.EPERM


@MACHINES
def test_with_a_network_there_are_the_internets_sockets_and_no_others(machine: str) -> None:
    network = Freedom(network=True)
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
        assert named(machine, network, "socket", family, socket.SOCK_DGRAM) == ALLOWED
    assert named(machine, network, "socket", 16, socket.SOCK_RAW, 0) == ALLOWED
    assert named(machine, network, "socket", 16, socket.SOCK_RAW, 12) == errno.EPERM
    assert named(machine, network, "socket", 17, socket.SOCK_RAW) == errno.EPERM
    assert named(machine, network, "connect") == ALLOWED


@MACHINES
def test_processes_are_free_or_not_and_threads_always(machine: str) -> None:
    thread, vfork, namespace = 0x3D0F00, 0x4111, 0x10000011
    for freedom, process in ((Freedom(), ALLOWED), (Freedom(processes=False), errno.EPERM)):
        assert named(machine, freedom, "clone", thread) == ALLOWED
        assert named(machine, freedom, "clone", 17) == process
        assert named(machine, freedom, "clone", vfork) == process
        assert named(machine, freedom, "clone", namespace) == errno.EPERM
        assert named(machine, freedom, "clone", thread | 0x10000000) == errno.EPERM
        assert named(machine, freedom, "clone3") == errno.ENOSYS
        if number("fork", machine) is not None:
            assert named(machine, freedom, "fork") == named(machine, freedom, "vfork") == process


@MACHINES
def test_the_host_and_everybody_at_once_get_no_signal(machine: str) -> None:
    freedom = Freedom(host=77, group=70)
    for target, result in ((77, errno.EPERM), (-70, errno.EPERM), (-1, errno.EPERM), (78, ALLOWED), (0, ALLOWED)):
        assert named(machine, freedom, "kill", target, 9) == result
    for name in ("tgkill", "tkill", "rt_sigqueueinfo", "pidfd_open"):
        assert named(machine, freedom, name, 77) == errno.EPERM
        assert named(machine, freedom, name, 78) == ALLOWED


@MACHINES
def test_a_process_keeps_its_brand_and_dies_with_its_host(machine: str) -> None:
    freedom = Freedom()
    assert named(machine, freedom, "prlimit64", 0, LOCKS, 0) == ALLOWED
    assert named(machine, freedom, "prlimit64", 0, LOCKS, 0x7F00_0000_0000) == errno.EPERM
    assert named(machine, freedom, "prlimit64", 0, LOCKS, 8) == errno.EPERM
    assert named(machine, freedom, "prlimit64", 0, 7, 8) == ALLOWED
    assert named(machine, freedom, "prlimit64", 77, 7, 0) == errno.EPERM
    assert named(machine, freedom, "setrlimit", LOCKS) == errno.EPERM
    assert named(machine, freedom, "setrlimit", 7) == ALLOWED
    assert named(machine, freedom, "prctl", 1, 9) == ALLOWED
    assert named(machine, freedom, "prctl", 1, 0) == errno.EPERM
    assert named(machine, freedom, "prctl", 4, 0) == errno.EPERM
    assert named(machine, freedom, "prctl", 15) == ALLOWED  # a name for a thread


@MACHINES
def test_nobody_else_is_slowed_down(machine: str) -> None:
    for name, process, group, user in (("setpriority", 0, 1, 2), ("ioprio_set", 1, 2, 3)):
        for which, who, result in (
            *((process, 0, ALLOWED), (group, 0, ALLOWED), (process, 77, errno.EPERM), (group, 77, errno.EPERM)),
            *((user, 0, errno.EPERM), (user, 65534, errno.EPERM)),
        ):
            assert named(machine, Freedom(), name, which, who) == result
    for name in ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"):
        assert named(machine, Freedom(host=77), name, 0) == ALLOWED
        assert named(machine, Freedom(host=77), name, 77) == errno.EPERM
        assert named(machine, Freedom(host=77), name, 78) == errno.EPERM  # a thread of the host's, perhaps
        assert named(machine, Freedom(), name, 78) == ALLOWED  # in a namespace of its own


@MACHINES
def test_memory_that_grows_as_a_stack_is_refused(machine: str) -> None:
    assert named(machine, Freedom(), "mmap", 0, 4096, 3, 0x22) == ALLOWED
    assert named(machine, Freedom(), "mmap", 0, 4096, 3, 0x22 | 0x100) == errno.EPERM


@MACHINES
def test_files_are_emptied_by_those_alone_who_may_write_them_where_landlock_does_not_look(machine: str) -> None:
    old, new = Freedom(truncation=False), Freedom()
    assert named(machine, new, "truncate") == named(machine, new, "openat2") == ALLOWED
    assert named(machine, old, "truncate") == errno.EPERM
    assert named(machine, old, "openat2") == errno.ENOSYS
    for name, at in (("open", 1), ("openat", 2)):
        if number(name, machine) is not None:
            before = [0] * at
            for flags in (0, 1, 2, 0o1001, 0o1101, 0o1002, 0o2000000):
                assert named(machine, old, name, *before, flags) == ALLOWED
            for flags in (0o1000, 0o1100, 0o2001000):
                assert named(machine, old, name, *before, flags) == errno.EPERM
                assert named(machine, new, name, *before, flags) == ALLOWED

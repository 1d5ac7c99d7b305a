"""The steps by which a child confines itself, as lines for `confinement.py`."""

import os
import resource
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from enfilade.isolation.guardian import LOCKS, brand
from enfilade.isolation.sandbox.filter import Freedom, build_filter
from enfilade.isolation.sandbox.machine import Machine
from enfilade.isolation.sandbox.places import CERTIFICATES, DEVICES, NAMES, SYSTEM, existing
from enfilade.sandboxing import Sandboxing

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_READ = _EXECUTE | _READ_FILE | _READ_DIR

_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""The rights to files that each version of Landlock's interface knows (landlock(7)); later ones know those of 5."""

_NEWEST_FILES = 5
_TRUNCATE_SINCE, _TCP_SINCE, _SCOPE_SINCE = 3, 4, 6
_TCP = 0b11
"""Binding and connecting."""
_SCOPE = 0b11
"""Abstract sockets and signals of what is outside."""

STACK, MOST_STACK = 8 * 1024 * 1024, 64 * 1024 * 1024
"""Bytes of its first thread's stack, and to what it may raise that; others' stacks are data."""

CPU_GRACE = 5
"""Seconds of processor time between the signal that says that it is used up and the one that ends all."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a launch stands on.

    Attributes:
        directory: Its private directory, which it may write.
        readable: What of its own it may read, beside what everybody may.
        host: The process it dies with and must not signal; 0 where that is in another pid namespace.
    """

    directory: str
    readable: Sequence[str]
    host: int = 0


def steps(asked: Sandboxing, machine: Machine, ground: Ground) -> str:
    """The lines, in the order in which they are to be taken.

    Args:
        asked: The measures of the launch's profile.
        machine: What there is of the layers; what is missing is left out.
        ground: What the launch stands on.
    """
    return "\n".join(_steps(asked, machine, ground))


def readable_places(asked: Sandboxing, own: Iterable[str]) -> tuple[str, ...]:
    """All that a launch may read, as far as it is there."""
    return existing([*SYSTEM, *CERTIFICATES, *(NAMES if asked.network else ()), *own, *asked.readable])


def _steps(asked: Sandboxing, machine: Machine, ground: Ground) -> Iterator[str]:
    if ground.host and machine.linux:
        yield f"parent {ground.host}"
    yield from _limits(asked)
    if machine.linux:
        yield f"limit {LOCKS} {brand(ground.directory)} {brand(ground.directory)}"
    if machine.linux and "privileges" not in machine.missing:
        yield "unprivileged"
    if machine.landlock:
        yield from _landlock(asked, machine.landlock, ground)
    if machine.seccomp:
        group = os.getpgid(ground.host) if ground.host else 0
        truncation = not 0 < machine.landlock < _TRUNCATE_SINCE
        freedom = Freedom(asked.network, asked.subprocess, ground.host, group, truncation)
        yield f"filter {build_filter(machine.seccomp, freedom).hex()}"


def _limits(asked: Sandboxing) -> Iterator[str]:
    limits = [
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, asked.open_files, asked.open_files),
        (resource.RLIMIT_FSIZE, asked.file_size, asked.file_size),
        (resource.RLIMIT_DATA, asked.memory, asked.memory),
        (resource.RLIMIT_STACK, STACK, MOST_STACK),  # which the limit of data does not count
    ]
    if asked.cpu_seconds is not None:
        limits.append((resource.RLIMIT_CPU, asked.cpu_seconds, asked.cpu_seconds + CPU_GRACE))
    return (f"limit {kind} {soft} {hard}" for kind, soft, hard in limits)


def _landlock(asked: Sandboxing, version: int, ground: Ground) -> Iterator[str]:
    handled = _FILE_RIGHTS[min(version, _NEWEST_FILES)]
    network = _TCP if version >= _TCP_SINCE and not asked.network else 0
    scope = _SCOPE if version >= _SCOPE_SINCE else 0
    yield f"landlock {handled} {network} {scope}"
    for path in ground.readable:
        yield f"allow {_READ & handled} {path}"
    for path in DEVICES:
        yield f"allow {(_READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL) & handled} {path}"
    yield f"allow {handled & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL)} {ground.directory}"
    yield "enclose"

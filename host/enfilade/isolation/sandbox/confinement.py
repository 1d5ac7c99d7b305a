"""What a child does to confine itself, before anything else runs in it: the steps its host has written down.

Imported by file in the plugin's own interpreter, whichever that is, so it takes the standard library alone, and little
of it. It decides nothing: a step is a line of words, and one that cannot be taken ends the child. See capabilities(7),
landlock(7), seccomp(2), prctl(2), getrlimit(2).
"""

import ctypes
import os
import stat
import sys
from collections.abc import Sequence
from typing import NoReturn

VARIABLE = "ENFILADE_CONFINEMENT"
"""The environment variable with the steps; it is taken out before the plugin runs."""

EXIT_CODE = 70
"""How a child ends that could not confine itself."""

LANDLOCK_FILE_RIGHTS = 0x1 | 0x2 | 0x4 | 0x4000 | 0x8000
"""Those of Landlock's rights that a file can have: execute, write, read, truncate, ioctl; a folder has all."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
_SIGKILL = 9
_O_PATH = 0o10000000

_libc = ctypes.CDLL(None, use_errno=True)


class ConfinementError(Exception):
    """A step could not be taken; the text says which, and the kernel's reason."""


def confine(steps: Sequence[str]) -> None:
    """Takes the steps in their order; see `enfilade.isolation.sandbox.steps`, which writes them.

    Raises:
        ConfinementError: One could not be taken.
    """
    ruleset = -1
    for step in steps:
        word, _, rest = step.partition(" ")
        if word == "limit":
            _limit(*map(int, rest.split()))
        elif word == "unprivileged":
            drop_privileges()
        elif word == "landlock":
            ruleset = create_ruleset(*map(int, rest.split()))
        elif word == "allow":
            rights, _, path = rest.partition(" ")
            allow(ruleset, int(rights), path)
        elif word == "enclose":
            restrict_self(ruleset)
        elif word == "filter":
            install_filter(bytes.fromhex(rest))
        elif word == "parent":
            _die_with(int(rest))
        else:
            raise ConfinementError(f"there is no step {word!r}")


def _limit(kind: int, soft: int, hard: int) -> None:
    import resource

    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:  # the host itself may be limited; what is lower stays
        soft, hard = min(soft, most), min(hard, most)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (OSError, ValueError) as error:
        raise ConfinementError(f"setrlimit {kind}: {error}") from None


def drop_privileges() -> None:
    """No program gives more rights from here on, and root's are dropped."""
    _prctl("PR_SET_NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(_MOST_CAPABILITIES):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            break  # the last there is, or not root's to begin with
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    if _libc.capset(header, (ctypes.c_uint32 * 6)()):
        raise _failed("capset")


def create_ruleset(files: int, network: int, scope: int) -> int:
    """A Landlock ruleset that handles these rights; the structure is as long as the kernel's version of it knows."""
    words = [files, network, scope]
    while len(words) > 1 and not words[-1]:
        words.pop()
    attributes = (ctypes.c_uint64 * len(words))(*words)
    return _call("landlock_create_ruleset", _CREATE_RULESET, attributes, ctypes.c_size_t(8 * len(words)), 0)


def allow(ruleset: int, rights: int, path: str) -> None:
    """Lets what is beneath a path have these rights. A path that is not there, or out of reach, needs none."""
    try:
        opened = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= LANDLOCK_FILE_RIGHTS
        rule = rights.to_bytes(8, sys.byteorder) + opened.to_bytes(4, sys.byteorder)
        _call("landlock_add_rule", _ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(opened)


def restrict_self(ruleset: int) -> None:
    """Puts the ruleset in force, for this process and all it starts."""
    _call("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def install_filter(program: bytes) -> None:
    """Puts a seccomp filter in force, for this process and all it starts."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    _prctl(
        "PR_SET_SECCOMP",
        _PR_SET_SECCOMP,
        _SECCOMP_MODE_FILTER,
        ctypes.byref(Program(len(program) // 8, program)),
    )


def _die_with(parent: int) -> None:
    """Ends with the host; a program that is run in this process's place inherits that."""
    _prctl("PR_SET_PDEATHSIG", _PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != parent:
        os._exit(EXIT_CODE)


def give_up(error: ConfinementError) -> NoReturn:
    """Says why on stderr, where the host reads it, and ends."""
    os.write(2, f"the sandbox cannot be set up: {error}\n".encode())
    os._exit(EXIT_CODE)


def _prctl(name: str, option: int, *values: object) -> None:
    filled = [*values, 0, 0, 0, 0][:4]
    if _libc.prctl(option, *[ctypes.c_ulong(v) if isinstance(v, int) else v for v in filled]):
        raise _failed(f"prctl {name}")


def _call(name: str, number: int, *values: object) -> int:
    arguments = [ctypes.c_long(v) if isinstance(v, int) else v for v in values]
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _failed(name)
    return result


def _failed(what: str) -> ConfinementError:
    return ConfinementError(f"{what}: {os.strerror(ctypes.get_errno())}")

"""A throw-away child that tries each layer on itself and says on stdout what came of it.

`python -I -S trial.py FILTER`, with a filter that forbids `ptrace`, in hexadecimal; it prints `LAYER ok [VERSION]` or
`LAYER REASON`, a line each. It takes the standard library alone, and `confinement.py` beside it.
"""

import ctypes
import errno
import os
import sys
from importlib import import_module

_PTRACE = {"x86_64": 101, "aarch64": 117}
_PTRACE_ATTACH = 16
_VERSION = 1
_CREATE_RULESET = 444


def main(program: str) -> None:
    """Tries all layers, in the order in which a child puts them on."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib is not loaded yet
    confinement = import_module("confinement")
    for layer, attempt in (
        ("privileges", confinement.drop_privileges),
        ("landlock", lambda: _landlock(confinement)),
        ("seccomp", lambda: _seccomp(confinement, program)),
    ):
        try:
            told = f"ok {attempt() or ''}".rstrip()
        except confinement.ConfinementError as error:
            told = str(error)
        sys.stdout.write(f"{layer} {told}\n")


def _landlock(confinement) -> int:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a module that is only known by its place
    libc = ctypes.CDLL(None, use_errno=True)
    version = int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION))
    if version < 1:
        reason = os.strerror(ctypes.get_errno())
        raise confinement.ConfinementError(f"the kernel has no Landlock, or it is switched off ({reason})")
    ruleset = confinement.create_ruleset(1 << 6, 0, 0)  # the right to make character devices, which nobody misses
    confinement.allow(ruleset, 1 << 6, "/")
    confinement.restrict_self(ruleset)
    return version


def _seccomp(confinement, program: str) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - as above
    if not program:
        raise confinement.ConfinementError("no filter was given")
    confinement.install_filter(bytes.fromhex(program))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_PTRACE[os.uname().machine], _PTRACE_ATTACH, 0, 0, 0) == 0 or ctypes.get_errno() != errno.EPERM:
        raise confinement.ConfinementError(f"a forbidden call was not refused: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(sys.argv[1])

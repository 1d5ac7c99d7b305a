"""What this machine can do, found out once by letting a throw-away child try it."""

import functools
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from enfilade.isolation.environment import interpreter_environment
from enfilade.isolation.sandbox import trial
from enfilade.isolation.sandbox.filter import ARCHITECTURES, Freedom, build_filter

TRIAL_SECONDS = 20.0
"""Seconds that a trial may take; it takes some milliseconds."""

BUBBLEWRAP = "bwrap"


@dataclass(frozen=True, slots=True)
class Machine:
    """Which layers there can be.

    Attributes:
        linux: Whether it runs Linux; elsewhere there are limits only.
        landlock: The version of Landlock's interface; 0 where there is none.
        seccomp: The machine's name for the filter's tables; empty where there is no filter.
        missing: Why a layer is not there, by its name.
    """

    linux: bool = True
    landlock: int = 0
    seccomp: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def this_machine() -> Machine:
    """What the trial found; blocking, some milliseconds the first time."""
    if sys.platform != "linux":
        reason = f"it needs Linux, and this is {sys.platform}"
        return Machine(linux=False, missing=dict.fromkeys(("privileges", "host", "landlock", "seccomp"), reason))
    kind = platform.machine()
    program = build_filter(kind, Freedom()).hex() if kind in ARCHITECTURES else ""
    said = _tried([sys.executable, "-I", "-S", trial.__file__, program])
    told = dict(line.partition(" ")[::2] for line in said.stdout.splitlines())
    missing = {layer: _reason(told, layer, said.stderr) for layer in ("privileges", "landlock", "seccomp")}
    if not program:
        missing["seccomp"] = f"there are no tables of system calls for {kind}"
    ok = told.get("landlock", "").removeprefix("ok ")
    return Machine(
        landlock=int(ok) if ok.isdigit() else 0,
        seccomp="" if missing["seccomp"] else kind,
        missing={layer: reason for layer, reason in missing.items() if reason},
    )


def _reason(told: Mapping[str, str], layer: str, stderr: str) -> str:
    """Why a layer is missing; empty when it is there."""
    said = told.get(layer)
    if said is None:
        return f"the trial did not come to it: {' '.join(stderr.split())[-200:] or 'it said nothing'}"
    return "" if said.startswith("ok") else said


@functools.cache
def bubblewrap() -> tuple[str, str]:
    """The program, and why it cannot be used; one of them is empty. Blocking, some milliseconds the first time."""
    program = shutil.which(BUBBLEWRAP)
    if sys.platform != "linux" or program is None:
        return "", "bwrap was not found on the PATH; install bubblewrap"
    binds = ["--ro-bind", "/", "/"]
    spaces = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command = [program, *spaces, *binds, "--proc", "/proc", "--dev", "/dev", "--die-with-parent"]
    ended = _tried([*command, sys.executable, "-I", "-S", "-c", "pass"])
    if ended.returncode:
        return "", f"{program} cannot make namespaces: {' '.join(ended.stderr.split())[-200:] or 'it said nothing'}"
    return program, ""


def _tried(command: list[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TRIAL_SECONDS,
            env=interpreter_environment(),
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))

"""What becomes of a launch under a profile: its command, its variables, which layers are active, which missing."""

import errno
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from enfilade.errors import SandboxError
from enfilade.isolation.sandbox import entrance
from enfilade.isolation.sandbox.bubblewrap import enclosed
from enfilade.isolation.sandbox.confinement import VARIABLE
from enfilade.isolation.sandbox.control_group import ControlGroup
from enfilade.isolation.sandbox.control_tree import control_tree
from enfilade.isolation.sandbox.machine import Machine, bubblewrap, this_machine
from enfilade.isolation.sandbox.places import existing, interpreter_places
from enfilade.isolation.sandbox.shield import shield_host
from enfilade.isolation.sandbox.steps import Ground, readable_places, steps
from enfilade.sandboxing import Profile, Sandboxing

REFUSALS = ("Operation not permitted", "Permission denied", "Read-only file system")
"""What the layers' refusals are called by the C library."""

GROUP_LAYER = "control group"
"""The layer that no profile requires: few hosts are given a part of the tree of control groups."""


@dataclass(frozen=True, slots=True)
class Confined:
    """How a launch is confined, for the record.

    Attributes:
        profile: What was asked for.
        active: The layers that are in force.
        missing: Those of the profile that are not, each with the reason.
    """

    profile: Profile = "none"
    active: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    def hint(self, text: str, plugin: str) -> str:
        """What to say after an error that the sandbox may be the cause of; empty after others."""
        if not self.active or not any(mark in text for mark in REFUSALS):
            return ""
        return (
            f" (its sandbox {self.profile!r} may have refused that; `network`, `readable` and `subprocess` in "
            f"[plugins.{_toml_key(plugin)}] open it, see docs/isolation.md)"
        )

    @property
    def lacking(self) -> bool:
        """Whether a layer is missing that its profile promises."""
        return any(layer != GROUP_LAYER for layer in self.missing)

    def __str__(self) -> str:
        layers = ", ".join(self.active) or "no layer"
        missing = "".join(f"; without {layer}: {reason}" for layer, reason in self.missing.items())
        return f"{self.profile} ({layers}{missing})"


def _toml_key(name: str) -> str:
    """The name as it is written in a configuration; that of a file's strategy needs quotes there."""
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'


@dataclass(frozen=True, slots=True)
class Wanted:
    """A launch before it is confined.

    Attributes:
        plugin: Its name.
        asked: Its sandbox.
        command: The program and its arguments. Of a plugin that the SDK serves these are the interpreter, its flags,
            and the doorway with its words.
        doorway: Where the doorway stands in the command; 0 for a program of the plugin's own.
        readable: What of its own it reads.
        path: The `PATH` on which its program is looked up.
    """

    plugin: str
    asked: Sandboxing
    command: tuple[str, ...]
    doorway: int = 0
    readable: Sequence[str] = ()
    path: str = os.defpath


@dataclass(frozen=True, slots=True)
class Plan:
    """A launch as it is to be made.

    Attributes:
        command: The program and its arguments.
        variables: What the environment holds for the sandbox.
        confined: How it is confined.
        group: The control group that is to be made for it, if there can be one.
        namespaces: Whether it runs in namespaces of its own, in which process ids mean other processes, and whose end
            is told as a shell tells it.
    """

    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    confined: Confined = field(default_factory=Confined)
    group: ControlGroup | None = None
    namespaces: bool = False


def plan(wanted: Wanted, directory: str) -> Plan:
    """Settles how a launch is confined. It blocks for some milliseconds when it is the first of this process.

    Args:
        wanted: The launch.
        directory: Its private directory.

    Raises:
        SandboxError: A layer that is required is missing; the text says why, and what can be had instead.
        OSError: There is no such program, or it may not be started.
    """
    asked = wanted.asked
    if asked.profile == "none":
        return Plan(wanted.command)
    machine = this_machine()
    program, missing = _found(machine, asked)
    if missing and asked.required:
        raise SandboxError(_refusal(wanted, missing))
    here = os.path.dirname(entrance.__file__)  # noqa: PTH120 - str stays str
    readable = readable_places(asked, [*wanted.readable, here])
    ground = Ground(directory, readable, 0 if program else os.getpid())
    command = _entered(wanted)
    if program:
        around = [*readable, *existing(interpreter_places(sys.executable))]  # the entrance may be run by the host's own
        command = enclosed(program, command, around, directory, network=asked.network)
    group = _group(asked, directory, missing)
    if group is not None:
        command = group.joined(command)
    confined = Confined(asked.profile, _active(machine, missing, asked), missing)
    return Plan(command, {VARIABLE: steps(asked, machine, ground)}, confined, group, namespaces=bool(program))


def _group(asked: Sandboxing, directory: str, missing: dict[str, str]) -> ControlGroup | None:
    """The launch's control group; where there can be none the reason is among what is missing, and refuses nothing."""
    if asked.profile != "strict":
        return None
    tree = control_tree()
    if tree.missing:
        missing[GROUP_LAYER] = tree.missing
        return None
    return ControlGroup(f"{tree.base}/{os.path.basename(directory)}", asked.memory)  # noqa: PTH119 - str stays str


def _found(machine: Machine, asked: Sandboxing) -> tuple[str, dict[str, str]]:
    """The program of bubblewrap, where it is asked for and is there; the layers that are missing."""
    missing = dict(machine.missing)
    if reason := shield_host():
        missing["host"] = reason
    program = ""
    if asked.profile == "strict":
        program, reason = bubblewrap()
        if not program:
            missing["bubblewrap"] = reason
    return program, missing


def _entered(wanted: Wanted) -> tuple[str, ...]:
    """The command with the entrance before it."""
    if wanted.doorway:
        interpreter, rest = wanted.command[: wanted.doorway], wanted.command[wanted.doorway :]
        return (*interpreter, entrance.__file__, *rest)
    return (sys.executable, "-I", "-S", entrance.__file__, entrance.PROGRAM, _program(wanted), *wanted.command[1:])


def _program(wanted: Wanted) -> str:
    """Where the program is. What is wrong with it is said here, as it would be without a sandbox."""
    name = wanted.command[0]
    found = shutil.which(name, path=wanted.path)
    if found is None:
        code = errno.EACCES if os.path.exists(name) else errno.ENOENT  # noqa: PTH110 - str stays str
        raise OSError(code, os.strerror(code))
    return found


def _active(machine: Machine, missing: Mapping[str, str], asked: Sandboxing) -> tuple[str, ...]:
    layers = {
        "limits": "limits",
        "privileges": "privileges",
        "host": "host memory",
        "landlock": f"landlock {machine.landlock}",
        "seccomp": "seccomp",
    }
    if asked.profile == "strict":
        layers |= {"bubblewrap": "bubblewrap", GROUP_LAYER: "control group"}
    return tuple(told for layer, told in layers.items() if layer not in missing)


def _refusal(wanted: Wanted, missing: Mapping[str, str]) -> str:
    causes = "; ".join(f"{layer}: {reason}" for layer, reason in missing.items())
    best = "standard" if list(missing) == ["bubblewrap"] else "none"
    return (
        f"plugin {wanted.plugin!r} is not started: its sandbox {wanted.asked.profile!r} is required and not to be had "
        f"here ({causes}); the next best here is sandbox = {best!r}, or sandbox_required = false to go on with what "
        "there is"
    )

"""The layers of which sandboxes are made, and which of them this machine has."""

from dataclasses import dataclass

from enfilade.isolation.sandbox.control_tree import control_tree
from enfilade.isolation.sandbox.machine import bubblewrap, this_machine

PARTS = {
    "privileges": "no new privileges, none of root's",
    "host": "the host's memory and environment are closed to its own user",
    "landlock": "files beyond its own, TCP, signals to others",
    "seccomp": "system calls that no strategy needs, sockets, connections",
    "bubblewrap": "namespaces of its own",
    "control group": "memory and number of all its processes together, under strict",
}
"""What each layer keeps a guest from, by the layer's name; limits there are everywhere."""

_REQUIRED_BY = {"bubblewrap": frozenset({"strict"}), "control group": frozenset[str]()}
_BY_EITHER = frozenset({"standard", "strict"})


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer on this machine.

    Attributes:
        name: Its name.
        about: What it does, and its version where it has one.
        missing: Why there is none; empty where there is.
        required_by: The profiles that are refused without it, where they are required.
    """

    name: str
    about: str
    missing: str = ""
    required_by: frozenset[str] = _BY_EITHER


def layers() -> list[Layer]:
    """Every layer; blocking, for it lets throw-away children try them."""
    machine = this_machine()
    program, reason = bubblewrap()
    missing = dict(machine.missing)
    if not program:
        missing["bubblewrap"] = reason
    tree = control_tree()
    if tree.missing:
        missing["control group"] = tree.missing
    notes = {
        "landlock": f" (version {machine.landlock})",
        "bubblewrap": f" ({program})",
        "control group": f" (in {tree.base})",
    }
    return [
        Layer(
            name,
            about + ("" if name in missing else notes.get(name, "")),
            missing.get(name, ""),
            _REQUIRED_BY.get(name, _BY_EITHER),
        )
        for name, about in PARTS.items()
    ]

"""A control group for one launch: bounds all its processes together, and tells when the kernel ended one for memory.

It carries the name of the launch's private directory, so it is swept as that is. See the kernel's
`admin-guide/cgroup-v2`.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from enfilade.isolation.removal import remove_group

MOST_PROCESSES = 512
"""Processes and threads that a group may have at a time."""

_JOIN = 'echo $$ >"$0" || exit 70; exec "$@"'
"""What has to be inside before anything else is: a shell, that then becomes the command."""


class ControlGroup:
    """A group that is to be made; whoever made it must `remove` it.

    Args:
        path: The group's folder.
        memory: Bytes that its processes may hold together, page cache that cannot be given back included.
    """

    def __init__(self, path: str, memory: int) -> None:
        self.path = path
        self.memory = memory
        self._killed = False

    def make(self) -> None:
        """Makes it and sets its bounds.

        Raises:
            OSError: It cannot be made, and its text says so; nothing of it is left.
        """
        folder = Path(self.path)
        try:
            folder.mkdir()
            (folder / "memory.max").write_text(str(self.memory))
            for name, value in (("memory.swap.max", "0"), ("pids.max", str(MOST_PROCESSES))):
                with contextlib.suppress(FileNotFoundError):  # a kernel without swap, a controller that was not given
                    (folder / name).write_text(value)
        except OSError as error:
            self.remove()
            raise OSError(error.errno, f"the control group {self.path} cannot be made: {error.strerror}") from None

    def joined(self, command: Sequence[str]) -> tuple[str, ...]:
        """The command, which is in the group from its first breath on."""
        return ("/bin/sh", "-c", _JOIN, f"{self.path}/cgroup.procs", *command)

    @property
    def killed(self) -> bool:
        """Whether the kernel has ended a process of it for memory; known also when it is gone."""
        self._killed = self._killed or _kills(self.path) > 0
        return self._killed

    def remove(self) -> None:
        """Ends what is left in it and removes it; blocking, until the kernel has let go of its processes."""
        _ = self.killed
        remove_group(self.path)

    def in_words(self) -> str:
        """What the kernel did."""
        return f"killed by the kernel for using more than its memory limit of {self.memory // 2**20} MiB"


def _kills(path: str) -> int:
    try:
        lines = Path(path, "memory.events").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

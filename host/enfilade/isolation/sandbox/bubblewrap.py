"""The command that puts a child into namespaces of its own, with no files but those that are named."""

import os
from collections.abc import Iterable, Iterator, Sequence

SHELL = "/bin/sh"

DEAF = 'trap "" TERM; exec "$0" "$@"'
"""bubblewrap ends at SIGTERM and takes what runs in it along at once, so it must not hear it; what runs in it must, and
is in the same process group. A signal that is ignored stays so in the program that follows."""

_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_SIGNAL_BASE = 128
_LAST_SIGNAL = 64


def enclosed(
    program: str, command: Sequence[str], readable: Iterable[str], directory: str, *, network: bool
) -> tuple[str, ...]:
    """The command around a command.

    Args:
        program: bubblewrap's own program.
        command: What runs in it.
        readable: Paths that are there, for reading; nothing else is.
        directory: The private directory, which is there for writing.
        network: Whether the host's network is there.
    """
    spaces = _NAMESPACES if network else (*_NAMESPACES, "--unshare-net")
    options = [*spaces, "--hostname", "enfilade", "--die-with-parent", "--cap-drop", "ALL"]
    options += ["--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"]  # noqa: S108 - it is the child's own
    options += [*_binds(readable), "--bind", directory, directory, "--chdir", directory]
    return (SHELL, "-c", DEAF, program, *options, "--", *command)


def _binds(readable: Iterable[str]) -> Iterator[str]:
    """Each path as it is here: links of the top as links, the rest for reading. What lies in one comes with it."""
    above = ""
    for path in sorted(set(readable), key=lambda path: path + os.sep):
        if above and path.startswith(above + os.sep):
            continue
        above = path
        if os.path.islink(path) and os.path.dirname(path) == "/":  # noqa: PTH114, PTH120 - `/lib` leads to `/usr/lib`
            yield from ("--symlink", os.readlink(path), path)  # noqa: PTH115 - str stays str
        else:
            yield from ("--ro-bind-try", path, path)


def exit_code(code: int | None) -> int | None:
    """What a child's end means that bubblewrap tells of: a signal's number above 128 is that signal."""
    if code is not None and _SIGNAL_BASE < code <= _SIGNAL_BASE + _LAST_SIGNAL:
        return _SIGNAL_BASE - code
    return code

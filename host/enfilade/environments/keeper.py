"""Runs one command and ends it, with everything it started, when the host is gone, however it went.

A small process run by file: `python -I -S keeper.py FILE_BYTES COMMAND...`. Its stdin is its life line: at the end of
it the command's process group is killed. It ends as the command ended. It imports little of the standard library, for
each command starts it (`typing` alone would double what that costs), and knows nothing of the rest of the house.
"""

import contextlib
import os
import resource
import select
import signal
import sys


def main(file_bytes: int, command: list[str]) -> None:
    """Runs the command under a limit for the size of a file, and does not return."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    child = os.fork()
    if child == 0:
        _become(file_bytes, command)
    with contextlib.suppress(OSError):  # the child did it already, or is gone
        os.setpgid(child, child)
    _watch(child, woken)
    _kill_group(child)  # what it left behind; its number is still its own, for it was not reaped yet
    _, status = os.waitpid(child, 0)
    _end_like(os.waitstatus_to_exitcode(status))


def _become(file_bytes: int, command: list[str]) -> None:
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Python ignores SIGXFSZ, and so does the command then: a file over the limit is an error, not a death.
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        os.execv(command[0], command)  # noqa: S606 - starting it is this file's purpose
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _watch(child: int, woken: int) -> None:
    """Returns when the child has ended, which the end of stdin brings about."""
    while True:
        readable, _, _ = select.select([0, woken], [], [])
        if 0 in readable and not os.read(0, 4096):
            _kill_group(child)
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            return
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
            return
        if woken in readable:
            os.read(woken, 4096)


def _kill_group(group: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    with contextlib.suppress(OSError):  # before it made its group
        os.kill(group, signal.SIGKILL)


def _end_like(code: int) -> None:
    if code < 0:
        with contextlib.suppress(OSError, ValueError):  # SIGKILL takes no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        code = 128 - code
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])

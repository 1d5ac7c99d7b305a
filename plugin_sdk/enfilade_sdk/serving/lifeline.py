"""Dies with the host: at the end of stdin, and by the kernel's word when the parent dies."""

import ctypes
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Asks the kernel (Linux) to kill this process when its parent ends, and ends now if it already has."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent and os.getppid() != parent:
        end_group()


def watch(lifeline: int) -> None:
    """Ends this process and its group when stdin ends; the thread only ever waits."""
    threading.Thread(target=_wait_for_end, args=(lifeline,), name="lifeline", daemon=True).start()


def end_group() -> None:
    """Ends this process, with everything it started when it leads its own group."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _wait_for_end(lifeline: int) -> None:
    while True:
        try:
            if not os.read(lifeline, 4096):
                break
        except InterruptedError:
            continue
        except OSError:
            break
    end_group()

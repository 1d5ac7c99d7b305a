"""Keeps the host's own memory and environment from processes of the same user."""

import ctypes
import os
import sys

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4


def shield_host() -> str:
    """Makes this process one that others of its user can neither look into nor trace; gives why it cannot be.

    Its files in `/proc` then belong to root; it goes on reading its own. It leaves no core file any more. Root's other
    processes see into it all the same, unless `/proc` is kept from them.
    """
    if sys.platform != "linux":
        return f"it needs Linux, and this is {sys.platform}"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0:
        return ""
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        return f"prctl PR_SET_DUMPABLE: {os.strerror(ctypes.get_errno())}"
    return ""

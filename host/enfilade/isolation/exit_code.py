"""How a process ended, in words."""

import signal

_HINTS = {
    signal.SIGKILL: "killed, perhaps for want of memory",
    signal.SIGSEGV: "a segmentation fault in native code",
    signal.SIGABRT: "aborted, usually by native code",
    signal.SIGTERM: "asked to end",
    signal.SIGXCPU: "its CPU time was used up",
    signal.SIGSYS: "a forbidden system call",
    signal.SIGBUS: "a bus error, perhaps a full disk under a memory map",
}


def in_words(code: int | None, killed: str = "") -> str:
    """Words for a return code as `subprocess` gives it: negative is a signal, None is still running.

    Args:
        code: The code.
        killed: Why the kernel has killed it, where that is known.
    """
    if code is None:
        return "still running"
    if code >= 0:
        return f"exit code {code}"
    try:
        number = signal.Signals(-code)
    except ValueError:
        return f"signal {-code}"
    hint = (number is signal.SIGKILL and killed) or _HINTS.get(number)
    return f"signal {number.value} ({number.name}{': ' + hint if hint else ''})"

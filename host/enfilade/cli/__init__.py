"""The `enfilade` command."""

import signal
from collections.abc import Sequence
from importlib import import_module


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and gives its exit code.

    What the command is made of takes a moment to load; Ctrl-C in that moment ends the process without a word.
    """
    heard = signal.getsignal(signal.SIGINT)
    if heard is not signal.default_int_handler:  # somebody else listens, or nobody shall
        return _run(arguments)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        import_module("enfilade.cli.program")
    finally:
        signal.signal(signal.SIGINT, heard)
    return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    code: int = import_module("enfilade.cli.program").main(arguments)
    return code

"""The first code of a sandboxed child: confines it, then lets in what is to run there.

`python -I -S entrance.py DOORWAY WORD...` runs that doorway of the SDK in this interpreter; `python -I -S entrance.py -
COMMAND...` runs a program in its place. Both files are imported rather than run, so that their byte code is kept.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader

PROGRAM = "-"
"""The word for a program instead of a doorway."""


def main(what: str, words: list[str]) -> None:
    """Confines this process and runs what it was started for."""
    confinement = _beside("confinement")
    try:
        confinement.confine(os.environ.pop(confinement.VARIABLE, "").splitlines())
    except confinement.ConfinementError as error:
        confinement.give_up(error)
    signals = import_module("_signal")  # `signal` itself is large
    signals.signal(signals.SIGTERM, signals.SIG_DFL)  # whoever waits for a sandbox's end may have it ignored
    if what == PROGRAM:
        signals.signal(signals.SIGPIPE, signals.SIG_DFL)  # as a program finds it that Python did not start
        _run(words)
    sys.argv = [what, *words]
    code = SourceFileLoader("doorway", what).get_code("doorway")
    assert code is not None  # a file has code
    exec(code, {"__name__": "__main__", "__file__": what, "__builtins__": __builtins__})  # noqa: S102 - as `python FILE`


def _run(words: list[str]) -> None:
    try:
        os.execvp(words[0], words)  # noqa: S606 - a shell is what must not be between
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _beside(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a module that is only known by its place
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib is not loaded yet
    try:
        return import_module(name)
    finally:
        del sys.path[0]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

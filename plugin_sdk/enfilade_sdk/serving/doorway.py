"""The door through which a plugin process comes in: run by file, before anything of a plugin's environment.

`python -I -S doorway.py SITE WORD...`: the host runs its own copy of this file in the interpreter of the plugin. An
interpreter that is started with `-S` runs no `.pth` file and no `sitecustomize`, so what stands here is the first code
of all; only when the streams are guarded are the installed packages put on the path. It imports nothing but the
standard library, for there is nothing else yet, and knows nothing of the rest of the house.

SITE is the `site-packages` folder of an environment that a plugin has for itself, of which no code runs by being there:
of its `.pth` files only the folders in it count. Or SITE is `-`: the interpreter's own environment, which the host
trusts, is set up as Python itself would have done, editable installations included.
"""

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn, TextIO

INTERPRETERS_OWN = "-"
"""The word for the interpreter's own environment."""

_CODE = ("import ", "import\t")
"""How the lines of a `.pth` file begin that Python would run."""


def main(site: str, words: list[str]) -> NoReturn:
    """Guards the streams, opens the environment, and lets the SDK in it serve what the words name."""
    streams = guard_streams()
    if site == INTERPRETERS_OWN:
        import_module("site").main()
    else:
        open_environment(site)
    sys.argv[1:] = words
    try:
        # By name, for it is the environment's own SDK, which may be of another version than this file.
        process = import_module("enfilade_sdk.serving.process")
    except ImportError as error:
        sys.stderr.write(f"the SDK cannot be imported from {sys.prefix}: {error}; install enfilade-sdk there\n")
        sys.exit(1)
    process.main(words, streams)
    sys.exit(0)


def guard_streams() -> tuple[TextIO, int]:
    """Keeps the protocol's stdout and stdin from plugin code.

    `print` goes to stderr from here on, line by line so that a crash loses none, and `input` finds nothing.

    Returns:
        The original stdout, for the one line; the descriptor of the original stdin, the life line.
    """
    sys.stdout.flush()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    lifeline = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return out, lifeline


def open_environment(site: str) -> None:
    """Puts an environment's packages on the path and runs nothing of it.

    Args:
        site: Its `site-packages` folder.
    """
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(site)))  # noqa: PTH120 - pathlib is not loaded yet
    if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):  # noqa: PTH113, PTH118
        sys.prefix = sys.exec_prefix = prefix
    python = import_module("site")  # with -S it does nothing by itself
    for give in (python.setquit, python.setcopyright, python.sethelper):  # `exit`, `help`, ... as in any program
        give()
    sys.path += [site, *_inner_folders(site)]


def _inner_folders(site: str) -> Iterator[str]:
    """The folders within it that its `.pth` files name, each once."""
    root, seen = os.path.realpath(site), set[str]()
    for name in sorted(os.listdir(site)):  # noqa: PTH208
        if name.endswith(".pth") and not name.startswith("."):
            for line in _lines(os.path.join(site, name)):  # noqa: PTH118
                path = os.path.realpath(os.path.join(site, line))  # noqa: PTH118
                if path.startswith(root + os.sep) and path not in seen and os.path.exists(path):  # noqa: PTH110
                    seen.add(path)
                    yield path


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:  # noqa: PTH123
            lines = [line.strip() for line in file]
    except OSError:
        return []
    return [line for line in lines if line and "\0" not in line and not line.startswith(("#", *_CODE))]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
